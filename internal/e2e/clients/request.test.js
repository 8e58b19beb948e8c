import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClientError, GraphQLClient } from 'graphql-request'
import { operations, said, token, url } from './shop.js'

const client = new GraphQLClient(`${url}/graphql`, { headers: { Authorization: `Bearer ${token}` } })

for (const { name, text, document, variables } of operations) {
  test(`${name} is what the server said`, async () => {
    for (const each of variables) {
      assert.deepEqual(await client.request(document, each), await said(text, each))
      assert.deepEqual(await client.request(text, each), await said(text, each))
    }
  })
}

test('a refused field is null beside the others, and says why', async () => {
  const stranger = new GraphQLClient(`${url}/graphql`)
  await assert.rejects(stranger.request('{ settings { currency } }'), error => error instanceof ClientError && error.response.errors[0].extensions.code === 'UNAUTHENTICATED')
  const all = new GraphQLClient(`${url}/graphql`, { headers: { Authorization: `Bearer ${token}` }, errorPolicy: 'all' })
  const { data, errors } = await all.rawRequest('{ settings { currency } products(after: "no cursor") { totalCount } }')
  assert.deepEqual(data, { settings: { currency: 'USD' }, products: null })
  assert.deepEqual([errors[0].path, errors[0].extensions.code], [['products'], 'INVALID'])
})

test('what has not changed since is 304 by GET', async () => {
  const ask = headers => fetch(`${url}/graphql?${new URLSearchParams({ query: '{ catalogNode(by: {id: "node-coffee"}) { id name } }' })}`, { headers: { Authorization: `Bearer ${token}`, ...headers } })
  const first = await ask({})
  assert.equal(first.status, 200)
  assert.deepEqual((await first.json()).data.catalogNode.name, 'Coffee')
  const again = await ask({ 'If-None-Match': first.headers.get('etag') })
  assert.equal(again.status, 304)
})
