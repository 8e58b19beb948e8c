// The back end of the checkout: one request handler, which Vite serves beside
// the page, and any Node server can.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Order } from '../src/order.ts'
import { bill } from './bill.ts'
import type { Headers, Till } from './service.ts'

// passed on from the page: its token, and who is shopping.
const passed = ['authorization', 'accept-language', 'x-moltin-currency', 'store-channel', 'store-context-tag']
const longest = 64 * 1024

async function read(request: IncomingMessage): Promise<Order> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of request) {
    length += part.length
    if (length > longest) throw new Error('The order is too long.')
    parts.push(part)
  }
  const { lines, code } = JSON.parse(Buffer.concat(parts).toString())
  const good = Array.isArray(lines) && lines.length <= 100 &&
    lines.every(({ id, quantity }) => typeof id === 'string' && Number.isInteger(quantity) && quantity > 0 && quantity < 100)
  if (!good || typeof code !== 'string') throw new Error('An order is up to 100 lines of 1 to 99 each, and a code.')
  return { lines, code }
}

/** checkout answers a posted Order with its Bill, or with what is wrong. */
export function checkout(till: Till) {
  return async (request: IncomingMessage, response: ServerResponse) => {
    const answer = (status: number, body: unknown) => {
      response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }).end(JSON.stringify(body))
    }
    if (request.method !== 'POST') return answer(405, { error: 'Post an order.' })
    try {
      const shopper: Headers = {}
      for (const name of passed) {
        const value = request.headers[name]
        if (typeof value === 'string') shopper[name] = value
      }
      answer(200, await bill(till, await read(request), shopper))
    } catch (error) {
      answer(400, { error: error instanceof Error ? error.message : String(error) })
    }
  }
}
