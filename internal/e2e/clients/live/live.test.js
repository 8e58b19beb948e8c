// The published subscription clients against a server, whose address and token are in the environment:
// go test ./internal/e2e -run TestSubscriptionClients
'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const events = require('graphql-sse')
const sockets = require('graphql-ws')
const WebSocket = require('ws')

const url = process.env.PORTICO_TEST_URL
const token = process.env.PORTICO_TEST_TOKEN
const bearer = `Bearer ${token}`
const revoked = process.env.PORTICO_TEST_REVOKED

const patience = { timeout: 60_000 }

const clients = {
  'graphql-sse': (given = bearer) => events.createClient({ url: `${url}/graphql`, headers: { Authorization: given }, retryAttempts: 0 }),
  'graphql-ws': (given = bearer) => sockets.createClient({
    url: `${url.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket, connectionParams: { Authorization: given }, retryAttempts: 0
  })
}

// sell allocates one unit of a product's stock.
async function sell (productId) {
  const query = 'mutation ($input: StockTransactInput!) { stockTransact(input: $input) { userErrors { message } } }'
  const variables = { input: { changes: [{ productId, action: 'DECREMENT', quantity: 1 }] } }
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST', headers: { Authorization: bearer, 'Content-Type': 'application/json' }, body: JSON.stringify({ query, variables })
  })
  assert.deepEqual(await answer.json(), { data: { stockTransact: { userErrors: [] } } })
}

for (const [name, connect] of Object.entries(clients)) {
  test(`${name}: stock as it is, and as it changes`, patience, async t => {
    const client = connect()
    t.after(() => client.dispose())
    const query = 'subscription ($ids: [ID!]!) { stockChanged(productIds: $ids) { available } }'
    const stream = client.iterate({ query, variables: { ids: ['prod-espresso'] } })
    const next = async () => (await stream.next()).value.data.stockChanged.available
    const before = await next()
    await sell('prod-espresso')
    assert.equal(await next(), before - 1)
    await sell('prod-espresso')
    assert.equal(await next(), before - 2)
    await stream.return()
  })

  test(`${name}: a stream that ends, and a query`, patience, async t => {
    const client = connect()
    t.after(() => client.dispose())
    for (const [query, data] of [
      ['subscription { jobProgress(id: "none") { state } }', { jobProgress: null }],
      ['{ settings { currency } }', { settings: { currency: 'USD' } }]
    ]) {
      const told = []
      for await (const result of client.iterate({ query })) told.push(result)
      assert.deepEqual(told, [{ data }])
    }
  })

  test(`${name}: what is wrong is told with its code`, patience, async t => {
    const client = connect()
    t.after(() => client.dispose())
    for (const [query, code] of [['subscription { nothing }', 'INVALID'], ['subscription { stockChanged(productIds: ["a"]) { total { a } } }', 'INVALID']]) {
      const first = client.iterate({ query }).next()
      const errors = name === 'graphql-ws' ? await first.then(() => [], refused => refused) : (await first).value.errors // by an error of its own, or as a result
      assert.equal(errors[0].extensions.code, code)
    }
  })
}

test('graphql-sse: a token that was revoked', async () => {
  const { value } = await clients['graphql-sse'](`Bearer ${revoked}`).iterate({ query: 'subscription { catalogPublished { uuid } }' }).next()
  assert.equal(value.errors[0].extensions.code, 'UNAUTHENTICATED')
})

test('graphql-ws: a token that was revoked', async () => {
  const stream = clients['graphql-ws'](`Bearer ${revoked}`).iterate({ query: 'subscription { catalogPublished { uuid } }' })
  await assert.rejects(stream.next(), { code: 4403 })
})
