// A front end's code on the types that gql.tada reads off the operations. That
// it compiles is the test.
import type { ResultOf, VariablesOf } from 'gql.tada'
import * as made from './operations.js'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const same = <A, B>(_: Same<A, B>) => {}

type Product = NonNullable<ResultOf<typeof made.ShopProductQuery>['product']>
same<Product['id'], string>(true)
same<Product['price'], { money: { amount: string; currency: string; formatted: string }; includesTax: boolean } | null>(true)
same<Product['saleExpires'], string | null>(true)
same<Product['stock'], { id: string; available: number } | null>(true)
same<Product['children'][number]['childVariations'][number]['option'], { uuid: string; name: string } | null>(true)
// @ts-expect-error what was not asked for is not there
export type Missing = Product['upcEan']

type Variables = VariablesOf<typeof made.ShopCategoryQuery>
export const variables: Variables = { id: 'node-coffee', first: 3, orderBy: { field: 'PRICE', direction: 'DESC' } }
// @ts-expect-error a value that the enum does not have
export const unknown: Variables = { id: 'node-coffee', first: 3, orderBy: { field: 'SIZE', direction: 'ASC' } }
// @ts-expect-error the id is required
export const none: Variables = { first: 3 }

export const documents: Record<string, unknown> = made
