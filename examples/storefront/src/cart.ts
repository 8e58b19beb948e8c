// The cart is stored in the browser, without prices.
import { useSyncExternalStore } from 'react'
import type { graphql } from './graphql'

export type Choice = ReturnType<typeof graphql.scalar<'BundleChoiceInput'>>

/** A line of a cart: a product by global id, and the chosen options of a bundle. */
export interface Line { id: string; quantity: number; choice?: Choice[] }

// stored is a list in localStorage. All tabs see its changes.
function stored<T>(key: string) {
  const none: readonly T[] = []
  let list = none
  let text = ''
  const listeners = new Set<() => void>()
  const read = () => {
    const now = localStorage.getItem(key) ?? '[]'
    if (now !== text) {
      text = now
      try { list = JSON.parse(now) } catch { list = none }
    }
    return list
  }
  const write = (next: readonly T[]) => {
    localStorage.setItem(key, JSON.stringify(next))
    for (const listener of listeners) listener()
  }
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    addEventListener('storage', listener)
    return () => { listeners.delete(listener); removeEventListener('storage', listener) }
  }
  // The server does not have it, so that a page begins with an empty list.
  return { read, write, use: () => useSyncExternalStore(subscribe, read, () => none) }
}

const lines = stored<Line>('cart')
const codes = stored<string>('codes')

/** useCart returns the lines of the cart. */
export const useCart = lines.use

/** useCodes returns the promotion codes that the shopper entered. */
export const useCodes = codes.use

const never = () => () => {}

/** useInteractive is false on the server, and until the page is interactive. */
export const useInteractive = () => useSyncExternalStore(never, () => true, () => false)

/** keyOf identifies a line. A bundle with other options is another line. */
export const keyOf = ({ id, choice }: Line) => JSON.stringify([id, choice])

export function add(line: Line) {
  const same = lines.read().find(other => keyOf(other) === keyOf(line))
  if (same) setQuantity(same, same.quantity + line.quantity)
  else lines.write([...lines.read(), line])
}

/** setQuantity removes the line if quantity is 0. */
export const setQuantity = (line: Line, quantity: number) => lines.write(lines.read().flatMap(
  other => keyOf(other) !== keyOf(line) ? [other] : quantity > 0 ? [{ ...other, quantity: Math.min(quantity, 99) }] : []
))

const mostCodes = 10 // of cartPreview

/** addCode adds a code. It replaces the same one in another case, which most shops do not tell apart. */
export const addCode = (code: string) => codes.write([...codes.read().filter(other => other.toLowerCase() !== code.toLowerCase()), code].slice(-mostCodes))
export const removeCode = (code: string) => codes.write(codes.read().filter(other => other !== code))
