import { graphql, readFragment, type FragmentOf } from './graphql'
import { Price, PriceText, textOf } from './price'

export const FromPriceOf = graphql(`
  fragment FromPriceOf on Product {
    priceRange { min { ...PriceText } max { ...PriceText } }
    originalPriceRange { min { ...PriceText } }
  }
`, [PriceText])

/** FromPrice shows what a product costs now: of one with variants, the lowest price. */
export function FromPrice({ of }: { of: FragmentOf<typeof FromPriceOf> }) {
  const { priceRange, originalPriceRange } = readFragment(FromPriceOf, of)
  if (!priceRange) return <Price now={null} />
  const { min, max } = priceRange
  const before = originalPriceRange?.min
  return <Price now={min} before={before && textOf(before) !== textOf(min) ? before : null} from={textOf(min) !== textOf(max)} />
}
