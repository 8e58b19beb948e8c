import { graphql, readFragment, type FragmentOf } from './graphql'
import { useTexts } from './texts'

export const PriceText = graphql(`
  fragment PriceText on Price { money { formatted } }
`)

type PriceData = FragmentOf<typeof PriceText> | null

/**
 * textOf is the price as the service formatted it for this shopper. The page never formats
 * minor units itself.
 */
export function textOf(of: PriceData) {
  return readFragment(PriceText, of)?.money.formatted
}

/** Price shows a price, and the price before a sale. */
export function Price({ now, before, from }: { now: PriceData; before?: PriceData; from?: boolean }) {
  const texts = useTexts()
  const shown = textOf(now)
  if (!shown) return <p className="price muted">{texts.noPrice}</p>
  const was = before && textOf(before)
  return <p className="price">
    {from && <small>{texts.from} </small>}
    {was ? <><ins><span className="hidden">{texts.now} </span>{shown}</ins> <del><span className="hidden">{texts.before} </span>{was}</del></> : <span>{shown}</span>}
  </p>
}
