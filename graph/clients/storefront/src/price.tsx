import { graphql, readFragment, type FragmentOf } from './graphql'

export const PriceText = graphql(`
  fragment PriceText on DisplayPrice { withTax { formatted } withoutTax { formatted } }
`)

type Text = FragmentOf<typeof PriceText> | null

// text is the price as the service formatted it for this shopper. The page never formats
// minor units itself.
function text(of: Text) {
  const price = readFragment(PriceText, of)
  return price?.withTax?.formatted ?? price?.withoutTax?.formatted
}

/** Price shows a price, and the price before a sale. */
export function Price({ now, before, from }: { now: Text; before?: Text; from?: boolean }) {
  const shown = text(now)
  if (!shown) return <p className="price muted">No price in this currency</p>
  const was = before && text(before)
  return <p className="price">
    {from && <small>from </small>}
    {was ? <><ins><span className="hidden">now </span>{shown}</ins> <del><span className="hidden">before </span>{was}</del></> : <span>{shown}</span>}
  </p>
}
