// The frame of every page: categories, search, shopper and cart.
import { useEffect, useRef } from 'react'
import { Link, NavLink, Route, Routes, useLocation } from 'react-router'
import { useQuery } from 'urql'
import { useCart } from './cart'
import { CartPage } from './cart_page'
import { CategoryPage } from './category'
import { graphql } from './graphql'
import { HomePage } from './home'
import { categoryPath } from './path'
import { ProductPage } from './product'
import { SearchPage } from './search'
import { SearchBox } from './search_box'
import { languages, useShopper } from './shopper'
import { Missing } from './trouble'

const Menu = graphql(`
  query Menu {
    hierarchies(first: 1) { nodes { id name children(first: 12) { nodes { id name slug } } } }
    currencies { code default }
  }
`)

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

function ShopperFields({ currencies }: { currencies: readonly { code: string; default: boolean }[] }) {
  const [shopper, change] = useShopper()
  const names = new Intl.DisplayNames([shopper.language], { type: 'language' })
  const chosen = shopper.currency || currencies.find(each => each.default)?.code
  return <div className="shopper">
    <select aria-label="Language" value={shopper.language} onChange={({ target }) => change({ ...shopper, language: target.value })}>
      {languages.map(tag => <option key={tag} value={tag}>{names.of(tag)}</option>)}
    </select>
    <select aria-label="Currency" value={chosen} onChange={({ target }) => change({ ...shopper, currency: target.value })}>
      {currencies.map(({ code }) => <option key={code}>{code}</option>)}
    </select>
  </div>
}

export function Frame() {
  const [{ data }] = useQuery({ query: Menu })
  const main = usePageStart()
  const count = useCart().reduce((sum, { quantity }) => sum + quantity, 0)
  const shop = data?.hierarchies?.nodes[0]
  return <>
    <a className="skip" href="#main" onClick={event => { event.preventDefault(); main.current?.focus() }}>Skip to the content</a>
    <header>
      <div className="top">
        <Link className="brand" to="/">{shop?.name ?? 'Shop'}</Link>
        <SearchBox />
        <ShopperFields currencies={data?.currencies ?? []} />
        <Link className="cart" to="/cart">Cart <span className="count" aria-label={`${count} in it`}>{count}</span></Link>
      </div>
      <nav aria-label="Categories">
        {shop?.children.nodes.map(node => <NavLink key={node.id} to={categoryPath(node)}>{node.name}</NavLink>)}
      </nav>
    </header>
    <main id="main" ref={main} tabIndex={-1}>
      <Routes>
        <Route index element={<HomePage />} />
        <Route path="c/:slug" element={<CategoryPage />} />
        <Route path="p/:slug" element={<ProductPage />} />
        <Route path="search" element={<SearchPage />} />
        <Route path="cart" element={<CartPage />} />
        <Route path="*" element={<Missing what="page" />} />
      </Routes>
    </main>
    <footer>A sample storefront on Portico. Nothing here can be bought, and nothing is asked of anyone but this shop.</footer>
  </>
}
