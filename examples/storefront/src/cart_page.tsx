// The cart, with the prices and discounts of cartPreview. The page calculates nothing.
import { useEffect, useId, useState } from 'react'
import { Link } from 'react-router'
import { useQuery } from 'urql'
import { addCode, keyOf, removeCode, setQuantity, useCart, useCodes, useInteractive, type Line } from './cart'
import { graphql, type ResultOf } from './graphql'
import { Head } from './head'
import { Ways } from './menu'
import { ProductPath, productPath } from './path'
import { Picture, PictureOf } from './picture'
import { StockBadge, useStock } from './stock'
import { useTexts } from './texts'
import { Trouble, Waiting } from './trouble'

const Cart = graphql(`
  query Cart($lines: [CartLineInput!]!, $codes: [String!]) {
    cartPreview(lines: $lines, codes: $codes) {
      lines {
        productId
        product { id uuid name locale componentProducts { id uuid name } mainImage { id ...PictureOf } ...ProductPath }
        unitPrice { formatted }
        price { formatted }
        problem { reason }
      }
      subtotal { formatted }
      discounts { promotion { name } code amount { formatted } }
      total { formatted }
      includesTax
      codesRefused { code reasons { reason } }
      codesUnused
      nextPromotion { promotion { name } missing { formatted } }
    }
  }
`, [ProductPath, PictureOf])

type Preview = NonNullable<ResultOf<typeof Cart>['cartPreview']>
type PreviewLine = Preview['lines'][number]

// sumsOf returns the line of the preview for each line of the cart. While the query runs again,
// the preview is of the previous cart.
function sumsOf(lines: readonly Line[], preview: Preview): (PreviewLine | undefined)[] {
  const left = [...preview.lines]
  return lines.map(({ id }) => {
    const at = left.findIndex(({ productId }) => productId === id)
    return at < 0 ? undefined : left.splice(at, 1)[0]
  })
}

// parts lists the chosen options of a bundle.
function parts({ choice }: Line, { componentProducts }: NonNullable<PreviewLine['product']>) {
  const names = new Map(componentProducts.map(({ uuid, name }) => [uuid, name]))
  return choice?.flatMap(({ options }) => options.map(({ id }) => names.get(id))).join(', ')
}

function CartLine({ line, sum, available }: { line: Line; sum: PreviewLine | undefined; available: number | undefined }) {
  const texts = useTexts()
  const product = sum?.product
  const name = product?.name ?? texts.unavailable
  const problem = sum?.problem && { UNKNOWN_PRODUCT: '', NO_PRICE: texts.noPrice, VARIANT_REQUIRED: texts.wrongChoice, INVALID_CHOICES: texts.wrongChoice,
    OUT_OF_STOCK: available === 0 ? '' : texts.soldOut, INSUFFICIENT_STOCK: texts.tooFew }[sum.problem.reason]
  return <li>
    <Picture of={product?.mainImage} sizes="6rem" />
    <div className="words">
      {product ? <Link to={productPath(product)} lang={product.locale} dir="auto">{name}</Link> : sum ? name : texts.loading}
      {product && line.choice && <p className="muted" lang={product.locale} dir="auto">{parts(line, product)}</p>}
      <p className="muted">{sum?.unitPrice?.formatted} {problem} <StockBadge available={available} /></p>
    </div>
    <label><span className="hidden">{texts.quantityOf(name)}</span>
      <input type="number" min="1" max="99" value={line.quantity} onChange={({ target }) => target.value && setQuantity(line, target.valueAsNumber)} /></label>
    <p className="price">{sum?.price?.formatted}</p>
    <button type="button" className="plain" aria-label={texts.removeProduct(name)} onClick={() => setQuantity(line, 0)}>{texts.remove}</button>
  </li>
}

// Codes takes refused codes out of the cart, and says why until another code is entered.
function Codes({ codes, preview, busy }: { codes: readonly string[]; preview: Preview; busy: boolean }) {
  const id = useId()
  const texts = useTexts()
  const [refused, setRefused] = useState<Preview['codesRefused']>([])
  useEffect(() => {
    const now = busy ? [] : preview.codesRefused.filter(({ code }) => codes.includes(code))
    if (!now.length) return
    setRefused(now)
    for (const { code } of now) removeCode(code)
  }, [busy, preview, codes])
  const unused = preview.codesUnused.filter(code => codes.includes(code))
  return <form className="code" onSubmit={event => {
    event.preventDefault()
    const code = String(new FormData(event.currentTarget).get('code')).trim()
    setRefused([])
    if (code) addCode(code)
    event.currentTarget.reset()
  }}>
    <label htmlFor={`${id}code`}>{texts.promotionCode}</label>
    <input id={`${id}code`} name="code" required autoComplete="off" autoCapitalize="characters" spellCheck={false} maxLength={200} aria-describedby={`${id}said`} />
    <button type="submit">{texts.apply}</button>
    {codes.length > 0 && <ul className="chips">{codes.map(code => <li key={code} className="chip">
      {code} <button type="button" className="plain" aria-label={texts.removeCode(code)} onClick={() => removeCode(code)}>×</button>
    </li>)}</ul>}
    <div id={`${id}said`} role="status">
      {refused.map(({ code, reasons }) => <p key={code} data-level="none">{code}: {reasons.map(({ reason }) => texts.refusals[reason]).join(' ')}</p>)}
      {unused.map(code => <p key={code}>{texts.codeUnused(code)}</p>)}
    </div>
  </form>
}

function Summary({ codes, preview, busy }: { codes: readonly string[]; preview: Preview; busy: boolean }) {
  const texts = useTexts()
  const { subtotal, discounts, total, includesTax, nextPromotion } = preview
  return <section className="bill" aria-labelledby="bill" aria-busy={busy}>
    <h2 id="bill">{texts.summary}</h2>
    <Codes codes={codes} preview={preview} busy={busy} />
    <dl aria-live="polite">
      <div><dt>{texts.subtotal}</dt><dd data-sum="subtotal">{subtotal.formatted}</dd></div>
      {discounts.map(({ promotion, code, amount }, i) => <div key={i}>
        <dt>{promotion.name}{code && <span className="muted"> {code}</span>}</dt><dd data-sum="discount">−{amount.formatted}</dd>
      </div>)}
      <div className="total"><dt>{texts.total}</dt><dd data-sum="total">{total.formatted}</dd></div>
    </dl>
    {includesTax !== null && <p className="muted">{includesTax ? texts.taxIncluded : texts.taxExcluded}</p>}
    {nextPromotion && <p className="next">{texts.missingTo(nextPromotion.missing.formatted, nextPromotion.promotion.name)}</p>}
  </section>
}

function Full({ lines }: { lines: readonly Line[] }) {
  const codes = useCodes()
  const [{ data, error, fetching, stale }, ask] = useQuery({
    query: Cart,
    variables: { codes: [...codes], lines: lines.map(({ id, quantity, choice }) => ({ productId: id, quantity, ...(choice && { choices: choice }) })) },
    requestPolicy: 'cache-and-network' // promotions begin and end
  })
  const preview = data?.cartPreview
  const available = useStock(preview?.lines.flatMap(({ product }) => product ? [product.uuid] : []) ?? [])
  if (!preview) return error ? <Trouble error={error} again={ask} /> : <Waiting />
  const sums = sumsOf(lines, preview)
  return <div className="cart-page">
    <ul className="lines">{lines.map((line, i) => <CartLine key={keyOf(line)} line={line} sum={sums[i]} available={available[sums[i]?.product?.uuid ?? '']} />)}</ul>
    <div>
      {error && <Trouble error={error} again={ask} />}
      <Summary codes={codes} preview={preview} busy={fetching || stale} />
    </div>
  </div>
}

function Empty() {
  const texts = useTexts()
  return <>
    <p className="lead">{texts.emptyCart} <Link to="/">{texts.startShopping}</Link></p>
    <Ways />
  </>
}

export function CartPage() {
  const texts = useTexts()
  const lines = useCart()
  const interactive = useInteractive()
  return <>
    <Head title={texts.cart} />
    <h1>{texts.cart}</h1>
    {lines.length ? <Full lines={lines} /> : interactive ? <Empty /> : <Waiting />}
  </>
}
