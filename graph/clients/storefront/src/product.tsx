import { useState } from 'react'
import { Link, Navigate, useParams } from 'react-router'
import { useQuery } from 'urql'
import { Bundle, BundleOf, useBundle } from './bundle'
import { add } from './cart'
import { graphql, type ResultOf } from './graphql'
import { categoryPath, ProductPath, productPath } from './path'
import { Picture, PictureOf } from './picture'
import { Price, PriceText } from './price'
import { useShopper } from './shopper'
import { StockLine, useStock } from './stock'
import { Missing, Trouble, Waiting } from './trouble'
import { useVariant, Variants } from './variants'

const Product = graphql(`
  query Product($slug: String!) {
    product(slug: $slug) {
      id
      uuid
      sku
      slug
      name
      description
      language
      shopperAttributes
      displayPrice { ...PriceText }
      originalDisplayPrice { ...PriceText }
      saleExpires
      tiers { name minimumQuantity displayPrice { ...PriceText } }
      parent { id }
      ...ProductPath
      ...PictureOf
      ...BundleOf
      breadcrumbs { node { id name slug } ancestors { uuid name slug } }
      variations { uuid name options { uuid name description } }
      children {
        id
        uuid
        sku
        displayPrice { ...PriceText }
        originalDisplayPrice { ...PriceText }
        childVariations { uuid option { uuid } }
      }
      componentProducts { id uuid }
    }
  }
`, [PriceText, ProductPath, PictureOf, BundleOf])

type ProductData = NonNullable<ResultOf<typeof Product>['product']>

export function ProductPage() {
  const { slug = '' } = useParams()
  const [{ data, error, fetching }, ask] = useQuery({ query: Product, variables: { slug } })
  if (error && !data) return <Trouble error={error} again={ask} />
  const product = data?.product?.slug === slug ? data.product : null // while another is asked for, it is still the last one
  if (!product) return fetching ? <Waiting /> : <Missing what="product" />
  if (product.parent) return <Navigate replace to={productPath(product)} />
  return <Shown key={product.id} product={product} />
}

function Crumbs({ product: { breadcrumbs: [trail], name } }: { product: ProductData }) {
  return <nav className="crumbs" aria-label="Breadcrumbs">
    {trail?.ancestors.map(({ uuid, name, slug }, i) => <Link key={uuid} to={i ? categoryPath({ slug }) : '/'}>{name}</Link>)}
    {trail && <Link to={categoryPath(trail.node)}>{trail.node.name}</Link>}
    <span aria-current="page">{name}</span>
  </nav>
}

function Attributes({ of }: { of: unknown }) {
  const all = Object.entries((of ?? {}) as Record<string, unknown>)
  return all.length ? <dl>{all.map(([name, value]) => <div key={name}><dt>{name.replaceAll('_', ' ')}</dt><dd>{String(value)}</dd></div>)}</dl> : null
}

// useChoice returns what would be bought: the product, the child with the chosen options, or
// the bundle with its choice. missing says what is still to be chosen.
function useChoice(product: ProductData) {
  const variants = useVariant(product.children)
  const bundle = useBundle(product)
  const isBundle = bundle.bundle.components.length > 0
  const available = useStock([product, ...product.children, ...product.componentProducts].map(({ uuid }) => uuid))
  const bought = variants.variant ?? product
  const parts = Object.values(bundle.chosen).flatMap(ids => ids.map(id => available[id] ?? Infinity))
  const left = isBundle && parts.length ? Math.min(...parts) : Infinity
  return {
    variants, bundle, isBundle, available, bought,
    price: isBundle && bundle.price ? bundle.price : bought,
    from: product.children.length > 0 && !variants.variant,
    left: available[bought.uuid] ?? (left === Infinity ? undefined : left),
    missing: product.children.length && !variants.variant ? `Choose ${product.variations.map(({ name }) => name.toLowerCase()).join(' and ')} first`
      : bundle.whole ? '' : 'Choose all parts'
  }
}

function Shown({ product }: { product: ProductData }) {
  const [{ language }] = useShopper()
  const [quantity, setQuantity] = useState(1)
  const [said, say] = useState('')
  const { variants, bundle, isBundle, available, bought, price, from, left, missing } = useChoice(product)
  const buy = () => {
    add({ id: bought.id, quantity, ...(isBundle && { choice: bundle.choice }) })
    say(`${quantity} in the cart`)
  }
  return <>
    <title>{product.name}</title>
    <Crumbs product={product} />
    <article className="product" data-product={bought.uuid}>
      <Picture of={product} eager />
      <div>
        <div lang={product.language}>
          <h1>{product.name}</h1>
          <p className="lead">{product.description}</p>
        </div>
        <div aria-live="polite"><Price now={price.displayPrice} before={price.originalDisplayPrice} from={from} /></div>
        {product.saleExpires && <p className="muted">Sale until <time dateTime={product.saleExpires}>{new Intl.DateTimeFormat(language, { dateStyle: 'long' }).format(new Date(product.saleExpires))}</time></p>}
        <Variants variations={product.variations} by={variants} />
        {isBundle && <Bundle of={bundle} available={available} />}
        {bundle.error && <Trouble error={bundle.error} />}
        <StockLine available={left} />
        <form className="buy" onSubmit={event => { event.preventDefault(); buy() }}>
          <label>Quantity <input type="number" min="1" max="99" required value={quantity} onChange={({ target }) => setQuantity(target.valueAsNumber || 1)} /></label>
          <button type="submit" disabled={missing !== '' || left === 0}>{missing || (left === 0 ? 'Sold out' : 'Add to cart')}</button>
          <p role="status">{said && <>{said}. <Link to="/cart">View cart</Link></>}</p>
        </form>
        {product.tiers.length > 0 && <ul className="tiers">{product.tiers.map(({ name, minimumQuantity, displayPrice }) =>
          <li key={name}>From {minimumQuantity}: <Price now={displayPrice} /></li>)}</ul>}
        <Attributes of={product.shopperAttributes} />
        <p className="muted">SKU {bought.sku}</p>
      </div>
    </article>
  </>
}
