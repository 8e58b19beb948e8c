// A front end's code on the types that graphql-codegen makes. That it compiles
// is the test: a type that is wider than the schema's is an error here.
import * as made from './generated/graphql.js'
import type { ShopCategoryQueryQuery, ShopCategoryQueryQueryVariables, ShopCodeQueryQuery, ShopProductQueryQuery } from './generated/graphql.js'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const same = <A, B>(_: Same<A, B>) => {}

type Product = NonNullable<ShopProductQueryQuery['product']>
same<Product['id'], string>(true)
same<Product['price'], { money: { amount: string; currency: string; formatted: string }; includesTax: boolean } | null>(true)
same<Product['saleExpires'], string | null>(true)
same<Product['stock'], { id: string; available: number } | null>(true)
same<Product['children'][number]['childVariations'][number]['option'], { uuid: string; name: string } | null>(true)
same<NonNullable<ShopCodeQueryQuery['promotionCodeCheck']>['reasons'][number]['reason'], made.PromotionCodeReason>(true)
// @ts-expect-error what was not asked for is not there
export type Missing = Product['upcEan']

// What a facet hands back is sent as it is.
type Value = NonNullable<ShopCategoryQueryQuery['catalogNode']>['products']['facets']['groups'][number]['values'][number]
export const next = ({ toggled }: Value): ShopCategoryQueryQueryVariables['facets'] => toggled

export const variables: ShopCategoryQueryQueryVariables = { id: 'node-coffee', first: 3, orderBy: { field: 'PRICE', direction: 'DESC' } }
// @ts-expect-error a value that the enum does not have
export const unknown: ShopCategoryQueryQueryVariables = { id: 'node-coffee', first: 3, orderBy: { field: 'SIZE', direction: 'ASC' } }
// @ts-expect-error the id is required
export const none: ShopCategoryQueryQueryVariables = { first: 3 }

export const documents: Record<string, unknown> = Object.fromEntries(
  Object.entries(made).map(([name, document]) => [name.replace(/Document$/, ''), document]))
