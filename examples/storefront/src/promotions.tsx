import { graphql, readFragment, type FragmentOf } from './graphql'
import { Day } from './day'
import { useTexts } from './texts'

export const PromotionOf = graphql(`
  fragment PromotionOf on ActivePromotion { name description end minCartValue { formatted } }
`)

/** Promotions lists the promotions that apply to a product without a code. */
export function Promotions({ of }: { of: readonly FragmentOf<typeof PromotionOf>[] }) {
  const texts = useTexts()
  const promotions = readFragment(PromotionOf, of)
  return promotions.length ? <ul className="promotions" aria-label={texts.promotions}>
    {promotions.map(({ name, description, end, minCartValue }, i) => <li key={i}>
      <strong>{name}</strong> {description} {minCartValue && texts.minimumCart(minCartValue.formatted)} <span className="muted">{texts.promotionUntil} <Day at={end} /></span>
    </li>)}
  </ul> : null
}
