// The frame of every page: categories, search, shopper and cart.
import { useEffect, useRef } from 'react'
import { Link, NavLink, Route, Routes, useLocation, useParams } from 'react-router'
import { useCart } from './cart'
import { CartPage } from './cart_page'
import { CategoryPage } from './category'
import { HomePage } from './home'
import { useMenu } from './menu'
import { categoryPath } from './path'
import { ProductPage } from './product'
import { SearchPage } from './search'
import { SearchBox } from './search_box'
import { useShopper } from './shopper'
import { useTexts } from './texts'
import { Missing } from './trouble'

// A new page scrolls to the top and takes the focus. A filter or another page of the same
// list does not.
function usePageStart() {
  const { pathname } = useLocation()
  const main = useRef<HTMLElement>(null)
  const last = useRef(pathname)
  useEffect(() => {
    if (last.current === pathname) return
    last.current = pathname
    scrollTo(0, 0)
    main.current?.focus({ preventScroll: true })
  }, [pathname])
  return main
}

// nameOf returns the name of a language in itself.
function nameOf(tag: string) {
  try {
    return new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag
  } catch {
    return tag
  }
}

function ShopperFields({ locales, currencies }: { locales: readonly string[]; currencies: readonly { code: string; default: boolean }[] }) {
  const texts = useTexts()
  const [shopper, change] = useShopper()
  const chosen = shopper.currency || currencies.find(each => each.default)?.code
  return <div className="shopper">
    <select aria-label={texts.language} value={shopper.language} onChange={({ target }) => change({ ...shopper, language: target.value })}>
      {locales.map(tag => <option key={tag} value={tag} lang={tag}>{nameOf(tag)}</option>)}
    </select>
    <select aria-label={texts.currency} value={chosen} onChange={({ target }) => change({ ...shopper, currency: target.value })}>
      {currencies.map(({ code }) => <option key={code}>{code}</option>)}
    </select>
  </div>
}

function Header() {
  const texts = useTexts()
  const [shopper] = useShopper()
  const { shop, locales, currencies } = useMenu()
  const count = useCart().reduce((sum, { quantity }) => sum + quantity, 0)
  return <header>
    <div className="top">
      <Link className="brand" to="/" lang={shop?.locale}>{shop?.name ?? texts.shop}</Link>
      <SearchBox />
      <ShopperFields locales={locales.length ? locales : [shopper.language]} currencies={currencies} />
      <Link className="cart" to="/cart" aria-label={`${texts.cart}, ${texts.inCart(count)}`}>{texts.cart} <span className="count">{count}</span></Link>
    </div>
    <nav aria-label={texts.categories} lang={shop?.locale}>
      {shop?.children.nodes.map(node => <NavLink key={node.id} to={categoryPath([shop], node)}>{node.name}</NavLink>)}
    </nav>
  </header>
}

// Another category or product is another component, with its own state.
const CategoryRoute = () => { const { '*': path = '' } = useParams(); return <CategoryPage key={path} path={path} /> }
const ProductRoute = () => { const { slug = '' } = useParams(); return <ProductPage key={slug} slug={slug} /> }

export function Frame() {
  const texts = useTexts()
  const main = usePageStart()
  return <>
    <a className="skip" href="#main" onClick={event => { event.preventDefault(); main.current?.focus() }}>{texts.skip}</a>
    <Header />
    <main id="main" ref={main} tabIndex={-1}>
      <Routes>
        <Route index element={<HomePage />} />
        <Route path="c/*" element={<CategoryRoute />} />
        <Route path="p/:slug" element={<ProductRoute />} />
        <Route path="search" element={<SearchPage />} />
        <Route path="cart" element={<CartPage />} />
        <Route path="*" element={<Missing />} />
      </Routes>
    </main>
    <footer>{texts.footer}</footer>
  </>
}
