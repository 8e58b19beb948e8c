// The cart's total, computed by the checkout's back end: server/bill.ts.
import { useEffect, useState } from 'react'
import { keyOf } from './cart'
import type { Bill, Order } from './order'
import { headersOf, type Shopper } from './shopper'
import { token } from './token'

async function ask(order: Order, shopper: Shopper, signal: AbortSignal): Promise<Bill> {
  const answer = await fetch('/checkout', {
    method: 'POST',
    headers: { ...headersOf(shopper), Authorization: `Bearer ${await token()}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(order),
    signal
  })
  const said = await answer.json()
  if (!answer.ok) throw new Error(said.error)
  return said
}

type Sums = ReadonlyMap<string, Bill['lines'][number]>

const sumsOf = (order: Order, bill: Bill): Sums => new Map(bill.lines.map((sum, i) => [keyOf(order.lines[i]!), sum]))

/** useBill returns the total of an order and of its lines. While fetching is true, it is the previous one. */
export function useBill(order: Order, shopper: Shopper) {
  const [state, setState] = useState<{ bill?: Bill; sums?: Sums; problem: string; fetching: boolean }>({ problem: '', fetching: true })
  const asked = JSON.stringify(order)
  useEffect(() => {
    const left = new AbortController()
    setState(last => ({ ...last, problem: '', fetching: true }))
    const order: Order = JSON.parse(asked)
    ask(order, shopper, left.signal).then(
      bill => setState({ bill, sums: sumsOf(order, bill), problem: '', fetching: false }),
      error => { if (!left.signal.aborted) setState({ problem: String(error.message), fetching: false }) }
    )
    return () => left.abort()
  }, [asked, shopper])
  return state
}
