// What an order comes to. Prices are the service's, read again for each bill,
// and as this shopper sees them: a page says what is in the cart, never what it
// costs.
import { graphql, type ResultOf } from '../src/graphql.ts'
import type { Bill, Line, Order } from '../src/order.ts'
import { least, percentOf, written, type Writing } from './money.ts'
import { ask, tillToken, type Headers, type Till } from './service.ts'

const Prices = graphql(`
  query CheckoutPrices($ids: [ID!]!) {
    nodes(ids: $ids) {
      ... on Product { id price { amount currency } tiers { minimumQuantity price { amount } } }
    }
    currencies { code default decimalPoint thousandSeparator decimalPlaces format }
  }
`)

const Configured = graphql(`
  query CheckoutBundle($id: ID!, $choice: [BundleChoiceInput!]!) {
    productConfigured(id: $id, selectedOptions: $choice) { price { amount currency } tiers { minimumQuantity price { amount } } }
  }
`)

const Check = graphql(`
  query CheckoutCode($code: String!, $cartValue: MoneyInput!) {
    promotionCodeCheck(code: $code, cartValue: $cartValue) { valid promotionId reasons { reason message } }
  }
`)

const Promotion = graphql(`
  query CheckoutPromotion($id: ID!) {
    promotion(id: $id) {
      name promotionType schema currencies { currency amount percentage } maxDiscountValue { currency amount }
    }
  }
`)

type Priced = { price: { amount: string; currency: string } | null; tiers: { minimumQuantity: number; price: { amount: string } }[] }

// unit is what one of so many costs.
function unit({ price, tiers }: Priced, quantity: number): bigint | undefined {
  const tier = tiers.findLast(({ minimumQuantity }) => minimumQuantity <= quantity)
  return price ? BigInt(tier?.price.amount ?? price.amount) : undefined
}

// off is what a promotion takes off a cart, or nothing where it is about some
// items only: those this sample leaves to a real checkout.
function off(promotion: NonNullable<ResultOf<typeof Promotion>['promotion']>, subtotal: bigint, currency: string): bigint {
  const here = promotion.currencies.find(each => each.currency === currency)
  const { percent } = promotion.schema as { percent?: number | string }
  const bound = promotion.maxDiscountValue.find(each => each.currency === currency)
  const taken = promotion.promotionType === 'PERCENT_DISCOUNT' ? percentOf(subtotal, String(here?.percentage ?? percent ?? 0))
    : promotion.promotionType === 'FIXED_DISCOUNT' ? BigInt(here?.amount ?? 0) : 0n
  return least(taken, subtotal, ...(bound ? [BigInt(bound.amount)] : []))
}

async function priced(till: Till, lines: Line[], shopper: Headers) {
  const { nodes, currencies } = await ask(till, Prices, { ids: lines.map(({ id }) => id) }, shopper)
  const things = await Promise.all(lines.map(async ({ id, choice }, i): Promise<Priced | null | undefined> => {
    if (choice) return (await ask(till, Configured, { id, choice }, shopper)).productConfigured
    const node = nodes?.[i]
    return node && 'price' in node ? node as Priced : undefined
  }))
  return { things, currencies: currencies ?? [] }
}

/** bill prices an order. shopper is the page's own headers, its token among them. */
export async function bill(till: Till, { lines, code }: Order, shopper: Headers): Promise<Bill> {
  const { things, currencies } = await priced(till, lines, shopper)
  const currency = things.find(thing => thing?.price)?.price?.currency ?? currencies.find(each => each.default)?.code ?? ''
  const writing: Writing = currencies.find(each => each.code === currency) ?? { decimalPoint: '.', thousandSeparator: '', decimalPlaces: 2, format: `{price} ${currency}` }
  const text = (amount: bigint) => written(amount, writing)

  let subtotal = 0n
  const sums = lines.map(({ quantity }, i) => {
    const thing = things[i]
    const each = thing ? unit(thing, quantity) : undefined
    if (each === undefined) return { unit: '', total: '' }
    subtotal += each * BigInt(quantity)
    return { unit: text(each), total: text(each * BigInt(quantity)) }
  })
  const plain = { lines: sums, subtotal: text(subtotal), discount: '', total: text(subtotal), promotion: '', refusals: [] }
  if (!code) return plain

  // Whoever may check codes could find them by trying, so that no page may.
  // A code is taken when the order is placed: by `promotionCodeRedeem`.
  const own = { Authorization: `Bearer ${await tillToken(till)}` }
  const { promotionCodeCheck: check } = await ask(till, Check, { code, cartValue: { amount: String(subtotal), currency } }, own)
  if (!check?.valid || !check.promotionId) return { ...plain, refusals: check?.reasons.map(({ message }) => message) ?? [] }
  const { promotion } = await ask(till, Promotion, { id: check.promotionId }, own)
  if (!promotion) return plain
  const discount = off(promotion, subtotal, currency)
  return { ...plain, promotion: promotion.name, discount: discount ? text(discount) : '', total: text(subtotal - discount) }
}
