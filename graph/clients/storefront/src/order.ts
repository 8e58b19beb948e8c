// What the page and the back end of its checkout say to each other.
import type { graphql } from './graphql'

export type Choice = ReturnType<typeof graphql.scalar<'BundleChoiceInput'>>

/** A line of a cart: a product by its global id, and what was chosen of a bundle. */
export interface Line { id: string; quantity: number; choice?: Choice[] }

export interface Order { lines: Line[]; code: string }

/** An order as it would be paid. Money is text for people; a line without a price cannot be bought. */
export interface Bill {
  lines: { unit: string; total: string }[] // in the order's order; empty texts without a price
  subtotal: string
  discount: string // empty without one
  total: string
  promotion: string // what the code is for; empty without a good one
  refusals: string[] // why the code cannot be used
}
