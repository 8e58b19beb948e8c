// The types shared by the page and the checkout's back end.
import type { graphql } from './graphql'

export type Choice = ReturnType<typeof graphql.scalar<'BundleChoiceInput'>>

/** A line of a cart: a product by global id, and the chosen options of a bundle. */
export interface Line { id: string; quantity: number; choice?: Choice[] }

export interface Order { lines: Line[]; code: string }

/** An order with its prices, formatted for display. A line without a price cannot be bought. */
export interface Bill {
  lines: { unit: string; total: string }[] // in the order's order; empty texts without a price
  subtotal: string
  discount: string // empty without one
  total: string
  promotion: string // what the code is for; empty without a good one
  refusals: string[] // why the code cannot be used
}
