import { useState } from 'react'
import { Link, Navigate } from 'react-router'
import { useQuery } from 'urql'
import { Bundle, BundleOf, useBundle } from './bundle'
import { CardOf, Cards } from './card'
import { add } from './cart'
import { Day } from './day'
import { FromPrice, FromPriceOf } from './from_price'
import { Downloads, Gallery, GalleryOf } from './gallery'
import { graphql, type ResultOf } from './graphql'
import { OfferOf, ProductHead } from './head'
import { useStatus } from './page'
import { categoryPath, ProductPath, productPath } from './path'
import { Price, PriceText } from './price'
import { PromotionOf, Promotions } from './promotions'
import { StockLine, useStock } from './stock'
import { useTexts } from './texts'
import { Missing, Trouble, WaitingPage } from './trouble'
import { useVariant, Variants } from './variants'

const Product = graphql(`
  query Product($slug: String!) {
    product(by: {slug: $slug}) {
      id
      uuid
      sku
      slug
      name
      description
      locale
      attributes { key label value unit }
      shopperAttributes
      price { ...PriceText }
      originalPrice { ...PriceText }
      saleExpires
      tiers { name minimumQuantity price { ...PriceText } }
      promotions { ...PromotionOf }
      parent { id }
      ...ProductPath
      ...GalleryOf
      ...BundleOf
      ...FromPriceOf
      ...OfferOf
      breadcrumbs { catalogNode { id name slug } ancestors { uuid name slug } }
      variations { uuid name options { uuid name description } }
      children {
        id
        uuid
        sku
        price { ...PriceText }
        originalPrice { ...PriceText }
        saleExpires
        tiers { name minimumQuantity price { ...PriceText } }
        promotions { ...PromotionOf }
        ...GalleryOf
        childVariations { uuid option { uuid } }
      }
      componentProducts { id uuid }
      related(first: 12) { id parent { id } ...CardOf }
    }
  }
`, [PriceText, PromotionOf, ProductPath, GalleryOf, BundleOf, FromPriceOf, OfferOf, CardOf])

type ProductData = NonNullable<ResultOf<typeof Product>['product']>

function Moved({ to }: { to: string }) {
  useStatus(301, to)
  return import.meta.env.SSR ? null : <Navigate replace to={to} />
}

export function ProductPage({ slug }: { slug: string }) {
  const [{ data, error, fetching }, ask] = useQuery({ query: Product, variables: { slug } })
  if (error && !data?.product) return <Trouble error={error} again={ask} />
  const product = data?.product
  if (!product) return fetching ? <WaitingPage /> : <Missing />
  return product.parent ? <Moved to={productPath(product)} /> : <Shown product={product} />
}

function Crumbs({ product: { breadcrumbs: [trail], name, locale } }: { product: ProductData }) {
  const texts = useTexts()
  return <nav className="crumbs" aria-label={texts.breadcrumbs} lang={locale}>
    {trail?.ancestors.map((step, i) => <Link key={step.uuid} to={categoryPath(trail.ancestors.slice(0, i), step)}>{step.name}</Link>)}
    {trail ? <Link to={categoryPath(trail.ancestors, trail.catalogNode)}>{trail.catalogNode.name}</Link> : <Link to="/">{texts.home}</Link>}
    <span aria-current="page">{name}</span>
  </nav>
}

// Attributes are the declared ones, which have labels, then those that the merchant wrote freely.
function Attributes({ of: { attributes, shopperAttributes } }: { of: ProductData }) {
  const texts = useTexts()
  const free = Object.entries((shopperAttributes ?? {}) as Record<string, unknown>).filter(([name]) => !attributes.some(({ key }) => key === name))
  const rows = [
    ...attributes.map(({ label, value, unit }) => [label, unit ? `${value} ${unit}` : value]),
    ...free.map(([name, value]) => [name.replaceAll('_', ' '), String(value)])
  ]
  return rows.length ? <section aria-labelledby="details">
    <h2 id="details">{texts.details}</h2>
    <dl>{rows.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
  </section> : null
}

// Related shows one product of each family, which are a parent and its children.
function Related({ to: { id, related } }: { to: ProductData }) {
  const texts = useTexts()
  const family = (of: (typeof related)[number]) => of.parent?.id ?? of.id
  const shown = related.filter((each, i, all) => family(each) !== id && all.findIndex(other => family(other) === family(each)) === i).slice(0, 4)
  return shown.length ? <section aria-labelledby="related">
    <h2 id="related">{texts.related}</h2>
    <Cards products={shown} />
  </section> : null
}

// useChoice returns what would be bought: the product, the child with the chosen options, or
// the bundle with its choice. missing says what is still to be chosen.
function useChoice(product: ProductData) {
  const texts = useTexts()
  const variants = useVariant(product.children)
  const bundle = useBundle(product)
  const isBundle = bundle.bundle.components.length > 0
  const available = useStock([product, ...product.children, ...product.componentProducts].map(({ uuid }) => uuid))
  const bought = variants.variant ?? product
  const parts = Object.values(bundle.chosen).flatMap(ids => ids.map(id => available[id] ?? Infinity))
  const left = isBundle && parts.length ? Math.min(...parts) : Infinity
  const open = product.children.length > 0 && !variants.variant
  return {
    variants, bundle, isBundle, available, bought, open,
    price: isBundle && bundle.price ? bundle.price : bought,
    left: open ? undefined : available[bought.uuid] ?? (left === Infinity ? undefined : left),
    missing: open ? texts.chooseFirst(product.variations.map(({ name }) => name).join(', ')) : bundle.whole ? '' : texts.chooseAll
  }
}

function Shown({ product }: { product: ProductData }) {
  const texts = useTexts()
  const [quantity, setQuantity] = useState(1)
  const [said, say] = useState('')
  const { variants, bundle, isBundle, available, bought, open, price, left, missing } = useChoice(product)
  const buy = () => {
    add({ id: bought.id, quantity, ...(isBundle && { choice: bundle.choice }) })
    say(texts.added(quantity))
  }
  return <>
    <ProductHead of={product} path={productPath(product)} />
    <Crumbs product={product} />
    <article className="product" data-product={bought.uuid}>
      <Gallery of={[bought, product]} name={product.name} />
      <div>
        <div lang={product.locale}>
          <h1 dir="auto">{product.name}</h1>
          <p className="lead" dir="auto">{product.description}</p>
        </div>
        <div aria-live="polite">{open ? <FromPrice of={product} /> : <Price now={price.price} before={price.originalPrice} />}</div>
        {bought.saleExpires && <p className="muted">{texts.saleUntil} <Day at={bought.saleExpires} /></p>}
        <Promotions of={bought.promotions ?? []} />
        <Variants variations={product.variations} by={variants} />
        {isBundle && <Bundle of={bundle} available={available} />}
        {bundle.error && <Trouble error={bundle.error} />}
        <StockLine available={left} />
        <form className="buy" onSubmit={event => { event.preventDefault(); buy() }}>
          <label>{texts.quantity} <input type="number" min="1" max="99" required value={quantity} onChange={({ target }) => setQuantity(target.valueAsNumber || 1)} /></label>
          <button type="submit" disabled={missing !== '' || left === 0}>{missing || (left === 0 ? texts.soldOut : texts.addToCart)}</button>
          <p role="status">{said && <>{said} <Link to="/cart">{texts.viewCart}</Link></>}</p>
        </form>
        {bought.tiers.length > 0 && <ul className="tiers">{bought.tiers.map(({ name, minimumQuantity, price }) =>
          <li key={name}>{texts.quantityPrice(minimumQuantity)} <Price now={price} /></li>)}</ul>}
        <Attributes of={product} />
        <Downloads of={product} />
        <p className="muted">SKU {bought.sku}</p>
      </div>
    </article>
    <Related to={product} />
  </>
}
