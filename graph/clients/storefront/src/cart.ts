// The cart is stored in the browser, without prices.
import { useSyncExternalStore } from 'react'
import type { Line } from './order'

const kept = 'cart'
let lines: Line[] = []
let text = ''
const listeners = new Set<() => void>()

function read(): Line[] {
  const now = localStorage.getItem(kept) ?? '[]'
  if (now !== text) {
    text = now
    try { lines = JSON.parse(now) } catch { lines = [] }
  }
  return lines
}

function write(next: Line[]) {
  localStorage.setItem(kept, JSON.stringify(next))
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  addEventListener('storage', listener) // other tabs
  return () => { listeners.delete(listener); removeEventListener('storage', listener) }
}

/** keyOf identifies a line. A bundle with other options is another line. */
export const keyOf = ({ id, choice }: Line) => JSON.stringify([id, choice])

export const useCart = () => useSyncExternalStore(subscribe, read)

export function add(line: Line) {
  const same = read().find(other => keyOf(other) === keyOf(line))
  if (same) setQuantity(same, same.quantity + line.quantity)
  else write([...read(), line])
}

/** setQuantity removes the line if quantity is 0. */
export const setQuantity = (line: Line, quantity: number) => write(read().flatMap(
  other => keyOf(other) !== keyOf(line) ? [other] : quantity > 0 ? [{ ...other, quantity: Math.min(quantity, 99) }] : []
))
