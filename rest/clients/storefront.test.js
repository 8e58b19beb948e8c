// What published storefronts do with answers, in their own words: they tell
// kinds of products by which members there are, and read members that they
// hold to be there. They ask through @elasticpath/js-sdk as it is published.
'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { open } = require('./sdk.js')

const sdk = open({ ...require('@elasticpath/js-sdk'), key: 'epCredentials' })
const client = sdk.connect({ client_secret: undefined }).ep

// Navigation: what hangs right under a hierarchy, with what hangs under that.
async function buildSiteNavigation() {
  const { data: hierarchies } = await client.ShopperCatalog.Hierarchies.All()
  return Promise.all(hierarchies.map(async hierarchy => {
    const { data: children } = await client.ShopperCatalog.Hierarchies.GetHierarchyChildren({ hierarchyId: hierarchy.id })
    const { data: nodes } = await client.ShopperCatalog.Hierarchies.GetHierarchyNodes({ hierarchyId: hierarchy.id })
    const below = id => nodes.filter(node => node.relationships.parent.data.id === id)
    return {
      id: hierarchy.id,
      children: children.map(child => ({ id: child.id, parent: child.relationships.parent.data, children: below(child.id).map(node => node.id) })),
      top: below(hierarchy.id).map(node => node.id)
    }
  }))
}

const isBundleProduct = product => 'components' in product.attributes
const isChildProduct = product => 'base_product_id' in product.attributes
const excludeChildProducts = products => products.filter(product => !product.relationships?.parent)

// Product pages: a bundle, a child with its parent, or a product of its own.
async function parseProduct(id) {
  const { data: product, included } = await client.ShopperCatalog.Products.With(['main_image', 'files', 'component_products']).Get({ productId: id })
  if (isBundleProduct(product)) return { kind: 'bundle', product, components: included.component_products }
  if (isChildProduct(product)) {
    const { data: base } = await client.ShopperCatalog.Products.Get({ productId: product.attributes.base_product_id })
    return { kind: 'child', product, base }
  }
  return { kind: 'simple', product }
}

async function everyProduct() {
  const list = []
  for (let offset = 0; ; offset += 100) {
    const { data, meta } = await client.ShopperCatalog.Products.Limit(100).Offset(offset).All()
    list.push(...data)
    if (list.length >= meta.results.total) return list
  }
}

test('the navigation is built', async () => {
  const [menu] = await buildSiteNavigation()
  assert.ok(menu.children.length > 0)
  for (const child of menu.children) assert.deepEqual(child.parent, { type: 'node', id: menu.id })
  assert.deepEqual(menu.top.sort(), menu.children.map(child => child.id).sort())
})

test('every product page knows what it shows', async () => {
  const counts = { bundle: 0, child: 0, simple: 0 }
  for (const { id } of await everyProduct()) {
    const page = await parseProduct(id)
    counts[page.kind]++
    if (page.kind === 'bundle') {
      for (const component of Object.values(page.product.attributes.components)) {
        for (const option of component.options) assert.ok(page.components.some(part => part.id === option.id), option.id)
      }
    }
    if (page.kind === 'child') {
      assert.equal(page.base.id, page.product.relationships.parent.data.id)
      assert.ok(page.base.meta.child_option_ids.length > 0)
    }
  }
  for (const kind of Object.keys(counts)) assert.ok(counts[kind] > 0, `${kind}: ${JSON.stringify(counts)}`)
})

test('lists leave out children, and nothing else', async () => {
  const all = await everyProduct()
  const shown = excludeChildProducts(all)
  assert.ok(shown.length > 0 && shown.length < all.length)
  assert.deepEqual(all.filter(product => !shown.includes(product)).map(product => product.id), all.filter(isChildProduct).map(product => product.id))
})

test('a child is found by its SKU, and by conditions joined by a comma', async () => {
  const child = (await everyProduct()).find(isChildProduct)
  const fresh = sdk.connect({ client_secret: undefined }).ep // this one keeps its filter
  const { data } = await fresh.ShopperCatalog.Products.Filter({ eq: { sku: child.attributes.sku } }).All()
  assert.deepEqual(data.map(product => product.id), [child.id])
  const { access_token: token } = await client.Authenticate()
  const address = `${client.config.protocol}://${client.config.host}/catalog/products`
  const get = async filter => (await fetch(`${address}?filter=${encodeURIComponent(filter)}`, { headers: { Authorization: `Bearer ${token}` } })).json()
  const { name, sku } = child.attributes
  assert.deepEqual((await get(`eq(name,"${name}"),eq(sku,${sku})`)).data.map(product => product.id), [child.id])
  assert.deepEqual((await get(`eq(name,"${name}"),eq(sku,NOTHING)`)).data, [])
})

test('a bundle is configured, with the images of its parts', async () => {
  const bundle = (await everyProduct()).find(isBundleProduct)
  const selectedOptions = Object.fromEntries(Object.entries(bundle.attributes.components)
    .map(([key, component]) => [key, Object.fromEntries(component.options.slice(-component.min).map(option => [option.id, 2]))]))
  const { data } = await client.ShopperCatalog.Products.Configure({ productId: bundle.id, selectedOptions })
  assert.deepEqual(data.meta.bundle_configuration.selected_options, selectedOptions)
  assert.ok(isBundleProduct(data))
  assert.deepEqual(data.meta.display_price, bundle.meta.display_price, 'the set has a price of its own')
  assert.deepEqual(data.relationships.component_products, bundle.relationships.component_products)

  const { included } = await client.ShopperCatalog.Products.With('component_products').Get({ productId: bundle.id })
  const images = included.component_products.map(part => part.relationships.main_image?.data?.id).filter(Boolean)
  assert.ok(images.length > 0)
  const files = await client.Files.Filter({ in: { id: images.join(',') } }).All()
  assert.deepEqual(files.data.map(file => file.id).sort(), [...new Set(images)].sort())
  assert.equal(files.meta.results.total, files.data.length)
  assert.equal(files.links.next, null)
  for (const file of files.data) assert.match(file.link.href, /^https:/)
  assert.equal((await client.Files.Get(images[0])).data.id, images[0])

  sdk.isError(await sdk.rejected(client.ShopperCatalog.Products.Configure({ productId: 'prod-latte', selectedOptions: {} })), '422', /no components/)
})

test('the currencies and the location of stock', async () => {
  const { data: currencies } = await client.Currencies.All()
  const standard = currencies.find(currency => currency.default)
  assert.deepEqual([standard.code, standard.type, standard.enabled, standard.exchange_rate], ['USD', 'currency', true, 1])
  assert.equal(standard.format.replace('{price}', ['1', '000'].join(standard.thousand_separator) + standard.decimal_point + '00'), '$1,000.00')
  assert.equal((await client.Currencies.Get(standard.id)).data.code, 'USD')
  const { data: locations } = await client.MultiLocationInventories.Locations.All()
  assert.deepEqual(locations.map(location => [location.id, location.type, location.attributes.name]), [['default', 'inventory_location', 'Default']])
  const admin = sdk.connect().ep
  sdk.isError(await sdk.rejected(admin.MultiLocationInventories.Locations.Create({ name: 'Berlin' })), 405, /POST/)
  sdk.isError(await sdk.rejected(admin.MultiLocationInventories.Get('locations').then(answer => answer.data.type === 'stock' ? answer : Promise.reject({ errors: [{ status: 0, title: '', detail: 'no stock record', code: '' }] }))), 0, /no stock record/)
})
