'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { MoltinClient } = require('@moltin/request')
const env = require('./env.js')

const ids = list => list.map(item => item.id)

// memory is a storage such as users of the package bring.
const memory = () => {
  const kept = new Map()
  return { get: key => kept.get(key) || null, set: (key, value) => kept.set(key, value), kept }
}

const connect = (options = {}) =>
  new MoltinClient({ client_id: env.client_id, client_secret: env.client_secret, host: env.url, storage: memory(), ...options })

const admin = connect()
const shopper = connect({ client_secret: undefined })
const catalog = connect({ client_secret: undefined, version: 'catalog' })

// refused checks what a call's user catches.
async function refused(call, status, detail) {
  await assert.rejects(call, error => {
    assert.equal(error.statusCode, Number(status))
    assert.equal(error.errors[0].status, status)
    assert.match(error.errors[0].detail, detail)
    return true
  })
}

test('log in with and without a secret', async () => {
  assert.match(await connect().authenticate(), /^\S+\.\S+\.\S+$/)
  assert.match(await connect({ client_secret: undefined }).authenticate(), /^\S+\.\S+\.\S+$/)
})

test('without a storage each call logs in', async () => {
  const client = connect({ storage: undefined })
  assert.equal((await client.get('settings')).data.type, 'settings')
  assert.equal((await client.get('/settings')).data.type, 'settings')
})

test('a wrong secret is told', async () => {
  await assert.rejects(connect({ client_secret: 'wrong' }).get('settings'), /Unable to obtain an access token/)
})

test('an expired token is renewed', async () => {
  const storage = memory()
  const client = connect({ storage })
  await client.get('settings')
  const before = JSON.parse(storage.get('moltinCredentials'))
  storage.set('moltinCredentials', JSON.stringify({ ...before, expires: 1 }))
  await client.get('settings')
  assert.notEqual(JSON.parse(storage.get('moltinCredentials')).access_token, before.access_token)
})

test('a token that was ended is 401, and a new log in mends it', async () => {
  const client = connect()
  await env.endTokens(await client.authenticate())
  await refused(client.get('settings'), 401, /\S/)
  await client.authenticate()
  assert.equal((await client.get('settings')).data.type, 'settings')
})

test('403, 404, 405 and 422', async () => {
  await refused(shopper.get('promotions'), 403, /promotions:read/)
  await refused(admin.get('promotions/nothing'), 404, /nothing/)
  await refused(catalog.get('nodes/nowhere/relationships/products'), '404', /nowhere/)
  await refused(admin.put('inventories/prod-mug', {}), 405, /\S/)
  await refused(admin.get('inventories?page[limit]=101'), 422, /page\[limit\]/)
  await refused(admin.get('nothing-of-ours'), 404, /\S/)
})

test('429 at a log in', async () => {
  const client = connect({ host: env.limitedURL })
  await client.authenticate().catch(() => {})
  await assert.rejects(client.authenticate(), /Unable to obtain an access token/)
})

test('promotions and codes', async () => {
  const { data: promotion } = await admin.post('promotions', {
    type: 'promotion',
    name: 'request',
    description: '',
    enabled: true,
    automatic: false,
    promotion_type: 'percent_discount',
    start: '2024-01-01',
    end: '2034-01-01 12:30',
    schema: { currencies: [{ currency: 'USD', percentage: 10 }] }
  })
  const { data: answer } = await admin.post(`promotions/${promotion.id}/codes`,
    { type: 'promotion_codes', consume_unit: 'per_item', codes: [{ code: 'request-A', user: 'u1', uses: 5 }, { code: 'request-B' }] })
  assert.equal(answer.id, promotion.id)
  const filtered = await admin.get(`promotions/${promotion.id}/codes?filter=eq(code,request-A)`)
  assert.deepEqual(filtered.data.map(item => [item.code, item.uses, item.consume_unit, item.user]), [['request-A', 5, 'per_item', 'u1']])
  await refused(admin.post(`promotions/${promotion.id}/codes`, { type: 'promotion_codes', codes: [{ code: 'request-A' }] }), 422, /^Promotion code already in use$/)
  assert.equal(await admin.delete(`promotions/${promotion.id}/codes/request-A`), '')
  assert.equal(await admin.delete(`promotions/${promotion.id}/codes`, { type: 'promotion_codes', codes: [{ code: 'request-B' }] }), '')
  assert.equal((await admin.get(`promotions/${promotion.id}/codes`)).meta.results.total, 0)
  assert.equal((await admin.put(`promotions/${promotion.id}`, { type: 'promotion', name: 'other' })).data.name, 'other')
  assert.ok(ids((await admin.get('promotions/')).data).includes(promotion.id))
  assert.equal(await admin.delete(`promotions/${promotion.id}`), '')
})

test('the catalog by its own version', async () => {
  const page = await catalog.get('nodes/node-coffee/relationships/products?filter=eq(sku%2CCOF-LAT)&include=main_image%2Cfiles', { 'EP-Channel': 'web' })
  assert.deepEqual(ids(page.data), ['prod-latte'])
  assert.deepEqual(ids(page.included.main_images), ['file-latte'])
  assert.deepEqual(ids((await catalog.get('hierarchies')).data), ['hierarchy-shop'])
})

test('a whole hierarchy, by links.next', async () => {
  const everything = ids((await catalog.get('hierarchies/hierarchy-shop/products?page[limit]=100')).data)
  const seen = []
  let page = await catalog.get('nodes/hierarchy-shop/relationships/products?page%5Blimit%5D=6')
  for (;;) {
    seen.push(...ids(page.data))
    if (page.links.next === null) break
    page = await catalog.get(page.links.next.replace(/^\/catalog/, ''))
  }
  assert.deepEqual(seen, everything)
})

test('stock, pages and transactions', async () => {
  const seen = []
  let page = await shopper.get('inventories/?page[limit]=10')
  for (;;) {
    seen.push(...ids(page.data))
    if (page.links.next === null) break
    page = await shopper.get(`inventories${page.links.next}`)
  }
  assert.equal(new Set(seen).size, page.meta.results.total)
  assert.equal((await admin.post('inventories/stock-request', { quantity: 3 })).data.total, 3)
  const { data: line } = await admin.post('inventories/stock-request/transactions', { type: 'stock-transaction', action: 'allocate', quantity: 2 })
  assert.equal(line.action, 'allocate')
  const { data } = await shopper.post('inventories/multiple', [{ id: 'stock-request' }, { id: 'nothing' }])
  assert.deepEqual(data, [{ id: 'stock-request', type: 'stock', total: 3, available: 1, allocated: 2 }])
})

test('gateways', async () => {
  const { data: whole } = await admin.put('gateways/card_processor', { enabled: true, merchant_id: 'm', username: 'u', password: 'p', test: true })
  assert.equal(whole.login, 'u')
  assert.deepEqual((await admin.put('gateways/card_processor', { type: 'gateway', enabled: false })).data, { ...whole, enabled: false })
  assert.equal((await admin.get('gateways/')).data.length, 2)
})

test('settings', async () => {
  const { data: before } = await admin.get('settings')
  const { data: after } = await admin.put('settings', { type: 'settings', page_length: 70 })
  await admin.put('settings', { type: 'settings', page_length: before.page_length })
  assert.deepEqual(after, { ...before, page_length: 70 })
})
