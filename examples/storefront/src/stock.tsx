// Only stock changes at any time. Queries leave it out, so that browsers can cache their
// responses. One subscription a page reads it, beginning with the current state.
import { useSubscription } from 'urql'
import { graphql } from './graphql'
import { useTexts } from './texts'

const StockChanged = graphql(`
  subscription StockChanged($ids: [ID!]!) { stockChanged(productIds: $ids) { id uuid available } }
`)

/** Available has the available units by the products' own ids. Products without a stock record are missing. */
export type Available = Readonly<Record<string, number>>

/** useStock subscribes to the stock of up to 100 products, by their own ids. */
export function useStock(ids: string[]): Available {
  const asked = [...new Set(ids)].sort().slice(0, 100) // the same products are the same subscription
  const [{ data }] = useSubscription(
    { query: StockChanged, variables: { ids: asked }, pause: !asked.length || import.meta.env.SSR },
    (known: Available | undefined, { stockChanged }): Available =>
      stockChanged ? { ...known, [stockChanged.uuid]: stockChanged.available } : known ?? {}
  )
  return data ?? {}
}

const few = 20

function useWords() {
  const texts = useTexts()
  return (available: number) => available === 0 ? texts.soldOut : available <= few ? texts.left(available) : texts.inStock
}

/** StockLine is the stock on a product page. Screen readers announce changes. */
export function StockLine({ available }: { available: number | undefined }) {
  const words = useWords()
  const level = available === undefined ? '' : available === 0 ? 'none' : available <= few ? 'few' : 'enough'
  return <p className="stock" role="status" data-level={level} data-available={available}>
    {available !== undefined && <span key={available} className="tick">{words(available)}</span>}
  </p>
}

/** StockBadge is the stock on a card, if it is low. */
export function StockBadge({ available }: { available: number | undefined }) {
  const words = useWords()
  return available !== undefined && available <= few ? <span className="badge" data-level={available ? 'few' : 'none'}>{words(available)}</span> : null
}
