import { graphql, readFragment, type FragmentOf } from './graphql'
import { Price, PriceText } from './price'

export const FromPriceOf = graphql(`
  fragment FromPriceOf on Product {
    price { amount }
    displayPrice { ...PriceText }
    originalDisplayPrice { ...PriceText }
    children { id price { amount } displayPrice { ...PriceText } originalDisplayPrice { ...PriceText } }
  }
`, [PriceText])

/** cheapest returns the cheapest child of a parent, else the product itself. varies says whether its children cost different amounts. */
export function cheapest(of: FragmentOf<typeof FromPriceOf>) {
  const product = readFragment(FromPriceOf, of)
  const children = product.children.filter(({ price }) => price)
  const least = children.reduce((least, each) => Number(each.price!.amount) < Number(least.price!.amount) ? each : least, children[0]!)
  return children.length ? { price: least, varies: children.some(({ price }) => price!.amount !== least.price!.amount) } : { price: product, varies: false }
}

/** FromPrice shows what a product costs: of a parent its cheapest child. */
export function FromPrice({ of }: { of: FragmentOf<typeof FromPriceOf> }) {
  const { price: { displayPrice, originalDisplayPrice }, varies } = cheapest(of)
  return <Price now={displayPrice} before={originalDisplayPrice} from={varies} />
}
