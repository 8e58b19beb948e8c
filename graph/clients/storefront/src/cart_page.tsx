import { useState } from 'react'
import { Link } from 'react-router'
import { useQuery } from 'urql'
import { useBill } from './bill'
import { keyOf, setQuantity, useCart } from './cart'
import { graphql, type ResultOf } from './graphql'
import type { Line } from './order'
import { ProductPath, productPath } from './path'
import { Picture, PictureOf } from './picture'
import { useShopper } from './shopper'
import { StockBadge, useStock } from './stock'
import { Trouble, Waiting } from './trouble'

// Products by global id. Null for products no longer in the shop.
const Cart = graphql(`
  query Cart($ids: [ID!]!) {
    nodes(ids: $ids) {
      ... on Product { id uuid name language componentProducts { id uuid name } ...ProductPath ...PictureOf }
    }
  }
`, [ProductPath, PictureOf])

type Node = NonNullable<NonNullable<ResultOf<typeof Cart>['nodes']>[number]>
type ProductData = Extract<Node, { id: string }>

// parts lists the chosen options of a bundle.
function parts({ choice }: Line, { componentProducts }: ProductData) {
  const names = new Map(componentProducts.map(({ uuid, name }) => [uuid, name]))
  return choice?.flatMap(({ options }) => options.map(({ id }) => names.get(id))).join(', ')
}

function Code({ refusals, promotion, use }: { refusals: string[]; promotion: string; use: (code: string) => void }) {
  return <form className="code" onSubmit={event => {
    event.preventDefault()
    use(String(new FormData(event.currentTarget).get('code')).trim())
  }}>
    <label>Promotion code <input name="code" autoComplete="off" autoCapitalize="characters" spellCheck={false} maxLength={200}
      aria-invalid={refusals.length > 0} aria-describedby="code-said" /></label>
    <button type="submit">Apply</button>
    <p id="code-said" role="status" data-level={refusals.length ? 'none' : 'enough'}>{refusals.join(' ') || (promotion && `${promotion}: applied`)}</p>
  </form>
}

function Full({ lines }: { lines: Line[] }) {
  const [shopper] = useShopper()
  const [code, setCode] = useState('')
  const [{ data, error, fetching: looking }, ask] = useQuery({ query: Cart, variables: { ids: lines.map(({ id }) => id) } })
  const { bill, sums, problem, fetching } = useBill({ lines, code }, shopper)
  // By id: while the query runs again, data still has the previous cart.
  const products = new Map((data?.nodes ?? []).flatMap(node => node && 'uuid' in node ? [[node.id, node]] : []))
  const available = useStock([...products.values()].map(({ uuid }) => uuid))
  if (error && !data) return <Trouble error={error} again={ask} />
  if (!data) return <Waiting />
  return <div className="cart-page">
    <ul className="lines">
      {lines.map(line => {
        const product = products.get(line.id)
        const sum = sums?.get(keyOf(line))
        return <li key={keyOf(line)}>
          {product && <Picture of={product} />}
          <div className="words" lang={product?.language}>
            {product ? <Link to={productPath(product)}>{product.name}</Link> : looking ? 'Loading…' : 'No longer available'}
            {product && line.choice && <p className="muted">{parts(line, product)}</p>}
            <p className="muted">{sum ? sum.unit || 'No price' : null} {product && <StockBadge available={available[product.uuid]} />}</p>
          </div>
          <label><span className="hidden">Quantity of {product?.name ?? 'this'}</span>
            <input type="number" min="1" max="99" value={line.quantity} onChange={({ target }) => target.value && setQuantity(line, target.valueAsNumber)} /></label>
          <p className="price">{sum?.total}</p>
          <button type="button" className="plain" aria-label={`Remove ${product?.name ?? 'this'}`} onClick={() => setQuantity(line, 0)}>Remove</button>
        </li>
      })}
    </ul>
    <section className="bill" aria-labelledby="bill" aria-busy={fetching}>
      <h2 id="bill">Total</h2>
      <Code refusals={bill?.refusals ?? []} promotion={bill?.promotion ?? ''} use={setCode} />
      {problem && <p role="alert" className="trouble">{problem}</p>}
      {bill && <dl aria-live="polite">
        <div><dt>Subtotal</dt><dd data-sum="subtotal">{bill.subtotal}</dd></div>
        {bill.discount && <div><dt>{bill.promotion}</dt><dd data-sum="discount">−{bill.discount}</dd></div>}
        <div className="total"><dt>Total</dt><dd data-sum="total">{bill.total}</dd></div>
      </dl>}
    </section>
  </div>
}

export function CartPage() {
  const lines = useCart()
  return <>
    <title>Cart</title>
    <h1>Cart</h1>
    {lines.length ? <Full lines={lines} /> : <p className="lead">Your cart is empty. <Link to="/">Start shopping.</Link></p>}
  </>
}
