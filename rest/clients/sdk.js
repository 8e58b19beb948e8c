// The tests of @elasticpath/js-sdk and @moltin/sdk, which have the same calls.
// Each test is of what the SDK hands its user.
'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const env = require('./env.js')

const ids = list => list.map(item => item.id)
const isPage = (meta, limit, offset, current) => {
  assert.equal(meta.page.limit, limit)
  assert.equal(meta.page.offset, offset)
  assert.equal(meta.page.current, current)
  assert.equal(meta.page.total, Math.ceil(meta.results.total / limit))
}

// rejected is what a call's user catches.
async function rejected(call) {
  let answer
  try {
    answer = await call
  } catch (error) {
    return error
  }
  assert.fail(`there is no error, but ${JSON.stringify(answer)}`)
}

// isError checks an error as users read it; under /catalog its status is a string.
function isError(error, status, detail) {
  assert.equal(error.errors.length, 1, JSON.stringify(error))
  const { source: _, ...members } = error.errors[0]
  assert.deepEqual(Object.keys(members).sort(), ['code', 'detail', 'status', 'title'])
  assert.equal(members.status, status)
  assert.match(members.detail, detail)
}

// connector changes where the SDK goes, and nothing else of it.
function connector({ gateway, MemoryStorageFactory, key }) {
  return (options = {}) => {
    const requests = []
    const storage = new MemoryStorageFactory()
    const ep = gateway({
      client_id: env.client_id,
      client_secret: env.client_secret,
      host: env.host,
      protocol: env.protocol,
      storage,
      retryDelay: 1,
      retryJitter: 1,
      // The SDK's own choice is made at its import; this one counts.
      custom_fetch: (target, request) => {
        requests.push(`${request.method} ${new URL(target).pathname}`)
        return fetch(target, request)
      },
      ...options
    })
    const credentials = () => JSON.parse(storage.get(key))
    return { ep, requests, storage, credentials }
  }
}

exports.open = sdk => ({ connect: connector(sdk), rejected, isError })

exports.run = function run(sdk) {
  const { name, key } = sdk
  const connect = connector(sdk)
  const admin = connect().ep
  const shopper = connect({ client_secret: undefined }).ep
  const code = suffix => `${name}-${suffix}`

  test('log in with client credentials', async () => {
    const { ep, credentials } = connect()
    const token = await ep.Authenticate()
    assert.equal(token.identifier, 'client_credentials')
    assert.equal(token.token_type, 'Bearer')
    assert.equal(token.expires_in, 3600)
    assert.ok(Math.abs(token.expires - Date.now() / 1000 - 3600) < 60)
    assert.equal(credentials().access_token, token.access_token, 'it is kept')
  })

  test('log in without a secret', async () => {
    const token = await connect({ client_secret: undefined }).ep.Authenticate()
    assert.equal(token.identifier, 'implicit')
  })

  test('log in with the fetch that the SDK brings', async () => {
    const { ep } = connect({ custom_fetch: undefined })
    const { data } = await ep.Settings.All()
    assert.equal(data.page_length, 25)
  })

  test('a wrong secret is told in the envelope', async () => {
    isError(await rejected(connect({ client_secret: 'wrong' }).ep.Authenticate()), 401, /\S/)
  })

  test('a token from a custom authenticator', async () => {
    const { ep, requests } = connect({ custom_authenticator: () => connect().ep.Authenticate() })
    const { data } = await ep.Settings.All()
    assert.equal(data.type, 'settings')
    assert.deepEqual(requests, ['GET /v2/settings'])
  })

  test('one token serves several calls', async () => {
    const { ep, requests } = connect()
    await ep.Settings.All()
    await ep.Settings.All()
    assert.deepEqual(requests, ['POST /oauth/access_token', 'GET /v2/settings', 'GET /v2/settings'])
  })

  test('an expired token is renewed before it is sent', async () => {
    const { ep, requests, storage, credentials } = connect()
    const { access_token } = await ep.Authenticate()
    storage.set(key, JSON.stringify({ ...credentials(), expires: Math.floor(Date.now() / 1000) - 1 }))
    await ep.Settings.All()
    assert.deepEqual(requests, ['POST /oauth/access_token', 'POST /oauth/access_token', 'GET /v2/settings'])
    assert.notEqual(credentials().access_token, access_token)
  })

  test('a token that was ended is answered 401, and the SDK logs in again', async () => {
    const { ep, requests, credentials } = connect()
    const { access_token } = await ep.Authenticate()
    await env.endTokens(access_token)
    const { data } = await ep.Settings.All()
    assert.equal(data.page_length, 25)
    assert.deepEqual(requests, ['POST /oauth/access_token', 'GET /v2/settings', 'POST /oauth/access_token', 'GET /v2/settings'])
    assert.notEqual(credentials().access_token, access_token)
  })

  test('a token that nobody issued is answered 401, and the SDK logs in again', async () => {
    const { ep, requests, storage } = connect()
    storage.set(key, JSON.stringify({ client_id: env.client_id, access_token: 'x.y.z', expires: Math.floor(Date.now() / 1000) + 999 }))
    const { data } = await ep.ShopperCatalog.Get()
    assert.equal(data.attributes.catalog_id, 'catalog-coffee')
    assert.deepEqual(requests, ['GET /catalog', 'POST /oauth/access_token', 'GET /catalog'])
  })

  test('401 for good ends in the envelope', async () => {
    const { ep, requests } = connect({ custom_authenticator: async () => ({ access_token: 'x.y.z', expires: 4e9 }) })
    isError(await rejected(ep.Settings.All()), 401, /\S/)
    assert.equal(requests.length, 4, 'its attempts')
  })

  test('403 is told at once, without another log in', async () => {
    const { ep, requests } = connect({ client_secret: undefined })
    isError(await rejected(ep.Promotions.All()), 403, /promotions:read/)
    assert.deepEqual(requests, ['POST /oauth/access_token', 'GET /v2/promotions'])
    isError(await rejected(ep.Promotions.AddCodes('any', [{ code: 'A' }])), 403, /promotions:write/)
    isError(await rejected(ep.Gateways.Enabled('card_processor', true)), 403, /gateways:write/)
  })

  test('404 in the catalog has a string for its status', async () => {
    isError(await rejected(shopper.ShopperCatalog.Nodes.GetNodeProducts({ nodeId: 'nowhere' })), '404', /nowhere/)
    isError(await rejected(shopper.ShopperCatalog.Products.Get({ productId: 'nothing' })), '404', /nothing/)
  })

  test('404 elsewhere has a number for its status', async () => {
    isError(await rejected(admin.Promotions.Get('nothing')), 404, /nothing/)
    isError(await rejected(admin.Gateways.Get('nothing')), 404, /card_processor/)
    isError(await rejected(admin.Inventories.Get('nothing')), 404, /nothing/)
  })

  test('422 names the bound', async () => {
    isError(await rejected(connect().ep.Inventories.Limit(101).All()), 422, /page\[limit\].*100/)
    isError(await rejected(connect().ep.ShopperCatalog.Nodes.Limit(101).GetNodeProducts({ nodeId: 'node-coffee' })), '422', /page\[limit\].*100/)
  })

  test('a filter that does not parse is 400', async () => {
    isError(await rejected(connect().ep.ShopperCatalog.Nodes.Filter({ eq: { colour: 'red' } }).GetNodeProducts({ nodeId: 'node-coffee' })),
      '400', /^Could not parse the supplied filter/)
  })

  test('429 at a log in is told in the envelope', async () => {
    const { ep } = connect({ host: env.limitedHost })
    const first = await ep.Authenticate().catch(error => error)
    const second = await rejected(ep.Authenticate())
    assert.ok(first.access_token || first.errors)
    isError(second, 429, /Retry in \d+ seconds/)
    isError(await rejected(connect({ host: env.limitedHost }).ep.Settings.All()), 429, /Retry in \d+ seconds/)
  })

  const fixed = (suffix, more = {}) => ({
    name: code(suffix),
    description: 'Ten off',
    enabled: true,
    automatic: false,
    promotion_type: 'fixed_discount',
    start: '2024-01-01',
    end: '2034-01-01',
    schema: { currencies: [{ currency: 'USD', amount: 1000 }] },
    min_cart_value: [{ currency: 'USD', amount: 5000 }],
    ...more
  })

  test('create, read, list, change and delete a promotion', async () => {
    const { data: made } = await admin.Promotions.Create(fixed('crud'))
    assert.equal(made.type, 'promotion')
    assert.equal(made.name, code('crud'))
    assert.deepEqual(made.schema.currencies, [{ currency: 'USD', amount: 1000 }])
    assert.deepEqual(made.currencies, made.schema.currencies)
    assert.equal(made.state, 'active')

    const { data: read } = await admin.Promotions.Get(made.id)
    assert.deepEqual(read, made)

    const list = await admin.Promotions.Filter({ eq: { name: code('crud') } }).All()
    assert.deepEqual(ids(list.data), [made.id])
    assert.equal(list.meta.results.total, 1)

    const { data: changed } = await admin.Promotions.Update(made.id, { enabled: false })
    assert.equal(changed.state, 'disabled')
    assert.equal(changed.name, made.name, 'a part changes nothing else')
    assert.deepEqual(changed.schema, made.schema)

    assert.equal(await admin.Promotions.Delete(made.id), '{}', 'what the SDK makes of 204')
    isError(await rejected(admin.Promotions.Get(made.id)), 404, /\S/)
  })

  test('promotions page to the end', async () => {
    const made = []
    for (const n of [1, 2, 3]) made.push((await admin.Promotions.Create(fixed(`page-${n}`))).data.id)
    const seen = []
    for (let offset = 0; ; offset++) {
      const page = await admin.Promotions.Limit(1).Offset(offset).All()
      isPage(page.meta, 1, offset, offset + 1)
      seen.push(...ids(page.data))
      if (page.meta.page.current >= page.meta.page.total) break
    }
    assert.equal(new Set(seen).size, seen.length)
    for (const id of made) {
      assert.ok(seen.includes(id))
      await admin.Promotions.Delete(id)
    }
  })

  test('promotions that break a rule', async () => {
    isError(await rejected(admin.Promotions.Create(fixed('ends', { end: '2023-01-01' }))), 422, /end/)
    isError(await rejected(admin.Promotions.Create(fixed('kind', { promotion_type: 'free_lunch' }))), 400, /promotion_type/)
  })

  test('create, list, filter and delete codes', async () => {
    const { data: promotion } = await admin.Promotions.Create(fixed('codes'))
    const { data: answer } = await admin.Promotions.AddCodes(promotion.id, [
      { code: code('A'), uses: 2, consume_unit: 'per_item', user: ['u1', 'u2'] },
      { code: code('B'), uses: 5, user: 'u1' },
      { code: code('C') }
    ])
    assert.equal(answer.type, 'promotion', 'the promotion, not the codes')
    assert.equal(answer.id, promotion.id)

    const { data: codes, meta } = await admin.Promotions.Codes(promotion.id)
    assert.equal(meta.results.total, 3)
    const byCode = Object.fromEntries(codes.map(item => [item.code, item]))
    assert.deepEqual([byCode[code('A')].uses, byCode[code('A')].max_uses, byCode[code('A')].consume_unit], [2, 2, 'per_item'])
    assert.deepEqual(byCode[code('A')].user, ['u1', 'u2'])
    assert.deepEqual([byCode[code('B')].uses, byCode[code('B')].consume_unit], [5, 'per_cart'])
    assert.equal(byCode[code('B')].user, 'u1')
    assert.equal(byCode[code('C')].uses, null, 'any number')

    const found = await admin.Promotions.Filter({ eq: { code: code('B') } }).Codes(promotion.id)
    assert.deepEqual(found.data.map(item => item.code), [code('B')])

    const second = await admin.Promotions.Limit(2).Offset(2).Codes(promotion.id)
    assert.equal(second.data.length, 1)
    isPage(second.meta, 2, 2, 2)

    assert.equal(await admin.Promotions.DeleteCode(promotion.id, code('A')), '{}')
    assert.equal(await admin.Promotions.DeleteCodes(promotion.id, [{ code: code('B') }]), '{}')
    const left = await admin.Promotions.Codes(promotion.id)
    assert.deepEqual(left.data.map(item => item.code), [code('C')])
    isError(await rejected(admin.Promotions.DeleteCode(promotion.id, code('A'))), 404, /\S/)

    await admin.Promotions.DeleteCode(promotion.id, code('C'))
    const none = await admin.Promotions.Codes(promotion.id)
    assert.deepEqual(none.data, [])
    assert.equal(none.meta.results.total, 0)
    assert.equal(none.links.next, null)
    await admin.Promotions.Delete(promotion.id)
  })

  test('codes that exist, and codes of an automatic promotion', async () => {
    const { data: promotion } = await admin.Promotions.Create(fixed('twice'))
    await admin.Promotions.AddCodes(promotion.id, [{ code: code('ONCE') }])
    const twice = await rejected(admin.Promotions.AddCodes(promotion.id, [{ code: code('ONCE') }]))
    assert.deepEqual(twice, { errors: [{ status: 422, title: 'Duplicate code', detail: 'Promotion code already in use', code: 'DUPLICATE_CODE', source: { pointer: '/data/codes/0/code' } }] })
    const cased = await rejected(admin.Promotions.AddCodes(promotion.id, [{ code: code('once').toLowerCase() }]))
    assert.equal(cased.errors[0].title, 'Duplicate code', 'in a new shop case does not count')

    const { data: automatic } = await admin.Promotions.Create(fixed('automatic', { automatic: true }))
    const refused = await rejected(admin.Promotions.AddCodes(automatic.id, [{ code: code('NO') }]))
    assert.deepEqual(refused, { errors: [{ status: 422, title: 'No codes allowed', detail: 'Cannot add codes to an automatic promotion', code: 'CODES_NOT_ALLOWED' }] })
    const { data: codes } = await admin.Promotions.Codes(automatic.id)
    assert.deepEqual(codes.map(item => item.code), [`auto_${automatic.id}`])
    await admin.Promotions.Delete(automatic.id)
    await admin.Promotions.Delete(promotion.id)
  })

  test('the products of a node, with what is included', async () => {
    const page = await connect({ client_secret: undefined }).ep.ShopperCatalog.Nodes
      .With(['main_image', 'files', 'component_products']).Limit(4).GetNodeProducts({ nodeId: 'node-coffee' })
    assert.equal(page.data.length, 4)
    isPage(page.meta, 4, 0, 1)
    const images = new Map(page.included.main_images.map(file => [file.id, file]))
    for (const product of page.data) {
      assert.equal(product.type, 'product')
      assert.equal(product.attributes.status, 'live')
      assert.ok(images.get(product.relationships.main_image.data.id).link.href, 'joined by id')
      assert.equal(product.meta.display_price.without_tax.currency, 'USD')
      assert.match(product.meta.display_price.without_tax.formatted, /^\$\d+\.\d\d$/)
      assert.ok(product.meta.bread_crumb_nodes.includes('node-coffee'))
      assert.deepEqual(product.meta.bread_crumbs['node-coffee'], ['hierarchy-shop', 'node-drinks'])
    }
    assert.ok(Array.isArray(page.included.files))
    assert.ok(Array.isArray(page.included.component_products))
    const plain = await shopper.ShopperCatalog.Nodes.GetNodeProducts({ nodeId: 'node-coffee' })
    assert.equal('included' in plain, false)
  })

  test('the products of a node, filtered', async () => {
    const { ep } = connect({ client_secret: undefined })
    const filtered = async filter => ids((await ep.ShopperCatalog.Nodes.Filter(filter).GetNodeProducts({ nodeId: 'node-coffee' })).data)
    assert.deepEqual(await filtered({ eq: { sku: 'COF-LAT' } }), ['prod-latte'])
    assert.deepEqual((await filtered({ in: { sku: ['COF-LAT', 'COF-FLW'] } })).sort(), ['prod-flat-white', 'prod-latte'])
    assert.deepEqual(await filtered({ in: { id: ['prod-latte'] } }), ['prod-latte'])
    assert.deepEqual(await filtered({ eq: { name: 'Flat White' } }), ['prod-flat-white'])
    assert.deepEqual(await filtered({ eq: { sku: 'COF-LAT', name: 'Flat White' } }), [])
  })

  const everything = async () => ids((await connect().ep.ShopperCatalog.Nodes.Limit(100).GetNodeProducts({ nodeId: 'hierarchy-shop' })).data)

  test('a whole hierarchy, page by page', async () => {
    const { ep } = connect({ client_secret: undefined })
    const seen = []
    for (let offset = 0; ; offset += 5) {
      const page = await ep.ShopperCatalog.Nodes.Limit(5).Offset(offset).GetNodeProducts({ nodeId: 'hierarchy-shop' })
      isPage(page.meta, 5, offset, offset / 5 + 1)
      seen.push(...ids(page.data))
      if (page.meta.page.current >= page.meta.page.total) break
    }
    assert.deepEqual(seen, await everything())
    assert.ok(seen.length > 15)
    assert.equal(new Set(seen).size, seen.length)
  })

  test('a whole hierarchy, by links.next', async () => {
    const { ep } = connect({ client_secret: undefined })
    const seen = []
    let page = await ep.ShopperCatalog.Nodes.Limit(5).GetNodeProducts({ nodeId: 'hierarchy-shop' })
    for (let steps = 0; ; steps++) {
      seen.push(...ids(page.data))
      if (page.links.next === null) break
      assert.ok(steps < 20)
      page = await ep.ShopperCatalog.request.send(page.links.next.replace(/^\//, ''), 'GET', undefined, null, undefined, false)
    }
    assert.deepEqual(seen, await everything())
  })

  test('an empty page has its meta and links', async () => {
    const page = await connect().ep.ShopperCatalog.Nodes.Offset(1000).GetNodeProducts({ nodeId: 'node-coffee' })
    assert.deepEqual(page.data, [])
    assert.equal(page.meta.results.total, 7)
    assert.equal(page.links.next, null)
  })

  test('products, one and all, with children and components', async () => {
    const products = connect({ client_secret: undefined }).ep.ShopperCatalog.Products
    const { data: latte } = await products.Get({ productId: 'prod-latte' })
    assert.equal(latte.attributes.sku, 'COF-LAT')
    const children = await products.GetProductChildren({ productId: 'prod-latte' })
    assert.deepEqual(ids(children.data).sort(), ['prod-latte-large', 'prod-latte-medium', 'prod-latte-small'])
    assert.deepEqual(ids(latte.relationships.children.data).sort(), ids(children.data).sort())

    const set = await products.With('component_products').Get({ productId: 'prod-breakfast' })
    const parts = ids(set.data.relationships.component_products.data)
    assert.ok(parts.includes('prod-espresso'))
    assert.deepEqual(ids(set.included.component_products).sort(), [...parts].sort())

    const all = await connect().ep.ShopperCatalog.Products.Limit(100).All()
    assert.equal(all.meta.results.total, all.data.length)
    const one = await connect().ep.ShopperCatalog.Products.Filter({ eq: { sku: 'GIF-MUG' } }).All()
    assert.deepEqual(ids(one.data), ['prod-mug'])
  })

  test('component products by their own path', async () => {
    const { ep } = connect({ client_secret: undefined })
    const { data } = await ep.ShopperCatalog.Products.Get({ productId: 'prod-breakfast' })
    const parts = await ep.ShopperCatalog.request.send('catalog/products/prod-breakfast/relationships/component_products', 'GET', undefined, null, undefined, false)
    assert.deepEqual(ids(parts.data).sort(), ids(data.relationships.component_products.data).sort())
  })

  test('products by node and by hierarchy', async () => {
    const products = connect({ client_secret: undefined }).ep.ShopperCatalog.Products
    const byNode = await products.GetProductsByNode({ nodeId: 'node-coffee' })
    assert.equal(byNode.data.length, 7)
    const byHierarchy = await products.Limit(100).GetProductsByHierarchy({ hierarchyId: 'hierarchy-shop' })
    assert.deepEqual(ids(byHierarchy.data), await everything())
  })

  test('hierarchies and nodes', async () => {
    const catalog = connect({ client_secret: undefined }).ep.ShopperCatalog
    const { data: hierarchies } = await catalog.Hierarchies.All()
    assert.deepEqual(ids(hierarchies), ['hierarchy-shop'])
    assert.equal((await catalog.Hierarchies.Get({ hierarchyId: 'hierarchy-shop' })).data.attributes.name, 'Portico Coffee')
    const top = ids((await catalog.Hierarchies.GetHierarchyChildren({ hierarchyId: 'hierarchy-shop' })).data).sort()
    assert.deepEqual(top, ['node-bakery', 'node-beans', 'node-drinks', 'node-gifts'])
    const nodes = await catalog.Hierarchies.GetHierarchyNodes({ hierarchyId: 'hierarchy-shop' })
    assert.equal(nodes.meta.results.total, 6)

    assert.equal((await catalog.Nodes.All()).data.length, 6)
    assert.equal((await catalog.Nodes.Get({ nodeId: 'node-coffee' })).data.attributes.name, 'Coffee')
    const below = await catalog.Nodes.GetNodeChildren({ nodeId: 'node-drinks' })
    assert.deepEqual(ids(below.data).sort(), ['node-coffee', 'node-tea'])
    const some = await catalog.Nodes.Filter({ in: { id: ['node-tea', 'node-beans'] } }).All()
    assert.deepEqual(ids(some.data).sort(), ['node-beans', 'node-tea'])
  })

  test('headers of the shopper ride along', async () => {
    const { ep } = connect({ client_secret: undefined, currency: 'EUR', language: 'de', headers: { 'EP-Channel': 'web', 'EP-Context-Tag': 'clearance' } })
    const { data } = await ep.ShopperCatalog.Nodes.GetNodeProducts({ nodeId: 'node-coffee', additionalHeaders: { 'Accept-Language': 'fr' } })
    assert.equal(data[0].meta.display_price.with_tax.currency, 'EUR')
    assert.equal(data[0].meta.display_price.without_tax, null)
  })

  test('read and change a gateway', async () => {
    const { data: all } = await admin.Gateways.All()
    assert.deepEqual(all.map(item => item.slug).sort(), ['card_processor', 'manual'])

    const { data: whole } = await admin.Gateways.Update('card_processor', { enabled: true, merchant_id: 'm', username: 'u', password: 'a secret', test: true })
    assert.deepEqual({ ...whole, password: '', signature: '' },
      { type: 'gateway', slug: 'card_processor', name: whole.name, enabled: true, test: true, merchant_id: 'm', login: 'u', password: '', signature: '' })
    assert.doesNotMatch(JSON.stringify(whole), /a secret/)
    assert.match(whole.password, /^\*+$/)

    const { data: part } = await admin.Gateways.Update('card_processor', { type: 'gateway', test: false })
    assert.deepEqual(part, { ...whole, test: false })

    const { data: odd } = await admin.Gateways.Update('card_processor',
      { type: 'gateway', name: '', slug: '', enabled: true, test: false, username: 'u2', password: 'p2', merchant_id: 'm2' })
    assert.deepEqual([odd.name, odd.slug, odd.login, odd.merchant_id], [whole.name, 'card_processor', 'u2', 'm2'])

    const { data: off } = await admin.Gateways.Enabled('card_processor', false)
    assert.equal(off.enabled, false)
    assert.deepEqual((await admin.Gateways.Get('card_processor')).data, off)
    isError(await rejected(admin.Gateways.Update('card_processor', { slug: 'other' })), 422, /slug/)
  })

  test('page the stock to the end', async () => {
    const { ep } = connect({ client_secret: undefined })
    const byOffset = []
    for (let offset = 0; ; offset += 10) {
      const page = await ep.Inventories.Limit(10).Offset(offset).All()
      isPage(page.meta, 10, offset, offset / 10 + 1)
      byOffset.push(...ids(page.data))
      if (page.meta.page.current >= page.meta.page.total) break
    }
    const byLink = []
    let page = await ep.Inventories.Limit(10).All()
    for (;;) {
      byLink.push(...ids(page.data))
      if (page.links.next === null) break
      page = await ep.request.send(`inventories${page.links.next}`, 'GET')
    }
    assert.deepEqual(byLink, byOffset)
    assert.equal(new Set(byOffset).size, page.meta.results.total)
  })

  test('create stock, and change it by transactions', async () => {
    const product = `stock-${name}`
    const { data: made } = await admin.Inventories.Create(product, 10)
    assert.deepEqual(made, { id: product, type: 'stock', total: 10, available: 10, allocated: 0 })
    const { data: line } = await admin.Inventories.IncrementStock(product, 5)
    assert.deepEqual([line.action, line.quantity], ['increment', 5])
    await admin.Inventories.AllocateStock(product, 4)
    await admin.Inventories.DeallocateStock(product, 1)
    await admin.Inventories.DecrementStock(product, 2)
    assert.deepEqual((await admin.Inventories.Get(product)).data, { id: product, type: 'stock', total: 13, available: 10, allocated: 3 })

    const ledger = await admin.Inventories.GetTransactions(product)
    assert.deepEqual(ledger.data.map(item => item.action).slice(0, 4), ['decrement', 'deallocate', 'allocate', 'increment'])
    assert.deepEqual((await admin.Inventories.GetTransaction(product, line.id)).data, line)

    const short = await rejected(admin.Inventories.DecrementStock(product, 1000))
    assert.equal(short.errors[0].status, 422)
    assert.equal(short.errors[0].title, 'Cannot complete request')
    isError(await rejected(admin.Inventories.Create(product, 1)), 409, /\S/)
    isError(await rejected(shopper.Inventories.IncrementStock(product, 1)), 403, /inventory:write/)
    isError(await rejected(admin.Inventories.Delete(product)), 422, /allocated/)
    await admin.Inventories.DeallocateStock(product, 3)
    assert.equal(await admin.Inventories.Delete(product), '{}', 'what the SDK makes of 204')
    isError(await rejected(admin.Inventories.Get(product)), 404, /\S/)
    assert.equal((await admin.Inventories.GetTransactions(product)).meta.results.total >= 6, true, 'the ledger stays')
  })

  test('the stock of several products', async () => {
    const { data } = await shopper.Inventories.GetMultipleStock(['prod-mug', 'prod-espresso'])
    assert.deepEqual(ids(data), ['prod-mug', 'prod-espresso'])
  })

  test('read and write settings', async () => {
    const { data: before } = await admin.Settings.All()
    const { data: after } = await admin.Settings.Update({ ...before, page_length: 7, page_length_max: 1 })
    try {
      assert.deepEqual(after, { ...before, page_length: 7 }, 'what can only be read is passed over')
      const page = await shopper.ShopperCatalog.Nodes.GetNodeProducts({ nodeId: 'hierarchy-shop' })
      assert.equal(page.data.length, 7)
    } finally {
      await admin.Settings.Update({ page_length: before.page_length })
    }
    isError(await rejected(admin.Settings.Update({ page_length: 0 })), 422, /page_length/)
  })

  return { admin, shopper, connect, rejected, isError }
}

// notServed tests calls of the SDK that have no route here: they are told so
// in the envelope, which is what their user prints.
exports.notServed = function notServed({ admin, rejected, isError }, calls) {
  for (const [call, status, go] of calls) {
    test(`not served: ${call}`, async () => {
      const error = await rejected(go(admin))
      isError(error, status, /\S/)
    })
  }
}
