'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { run, notServed } = require('./sdk.js')

const sdk = run({ name: 'elasticpath', ...require('@elasticpath/js-sdk'), key: 'epCredentials' })

test('stock by location', async () => {
  const stock = sdk.connect().ep.MultiLocationInventories
  const { data: made } = await stock.Create({ locations: { default: { available: 10 } } }, 'stock-by-location')
  assert.equal(made.id, 'stock-by-location')
  assert.deepEqual(made.attributes, { total: 10, available: 10, allocated: 0, locations: { default: { total: 10, available: 10, allocated: 0 } } })
  await stock.IncrementStock('stock-by-location', 5)
  await stock.AllocateStock('stock-by-location', 4, 'default')
  await stock.DeallocateStock('stock-by-location', 1, 'default')
  const { data: line } = await stock.DecrementStock('stock-by-location', 2, 'default')
  assert.deepEqual([line.attributes.action, line.attributes.quantity], ['decrement', 2])
  assert.deepEqual((await stock.Get('stock-by-location')).data.attributes.locations.default, { total: 13, available: 10, allocated: 3 })
  await stock.SetStock('stock-by-location', 8, 'default')
  const several = await stock.GetMultipleStock(['stock-by-location'])
  assert.equal(several.data[0].attributes.available, 8)
  assert.equal((await stock.GetTransactions('stock-by-location')).meta.results.total >= 5, true)
  assert.deepEqual((await stock.GetTransaction('stock-by-location', line.id)).data, line)
  const page = await stock.Limit(3).Offset(3).All()
  assert.equal(page.data.length, 3)
  sdk.isError(await sdk.rejected(stock.IncrementStock('stock-by-location', 1, 'moon')), 422, /moon/)
  await stock.DeallocateStock('stock-by-location', 3, 'default')
  assert.equal(await stock.Delete('stock-by-location'), '{}')
  sdk.isError(await sdk.rejected(stock.Delete('stock-by-location')), 404, /stock-by-location/)
})

notServed(sdk, [
  ['MultiLocationInventories.Update', 405, ep => ep.MultiLocationInventories.Update('prod-mug', {})],
  ['ShopperCatalog.Products.GetRelatedProducts', '404', ep => ep.ShopperCatalog.Products.GetRelatedProducts({ productId: 'prod-mug', customRelationshipSlug: 'like' })],
  ['Promotions.Attributes', 404, ep => ep.Promotions.Attributes()],
  ['Promotions.History', 404, ep => ep.Promotions.History('any')],
  ['Promotions.PromotionJobs', 404, ep => ep.Promotions.PromotionJobs('any')],
  ['Promotions.AddCodesJob', 404, ep => ep.Promotions.AddCodesJob('any', {})],
  ['Promotions.GetCodeExportFile', 404, ep => ep.Promotions.GetCodeExportFile('any', 'any')],
  ['Gateways.GetSlugAttributes', 404, ep => ep.Gateways.GetSlugAttributes('card_processor')],
  ['Gateways.OnboardingLinks', 404, ep => ep.Gateways.OnboardingLinks('card_processor', 'https://shop.example')],
  ['Settings.Delete', 405, ep => ep.Settings.Delete()],
  ['Settings.GetLogsTtl', 404, ep => ep.Settings.GetLogsTtl()],
  ['Settings.Cart', 404, ep => ep.Settings.Cart()],
  ['Settings.Subscriptions', 404, ep => ep.Settings.Subscriptions()],
  ['Settings.Promotions', 404, ep => ep.Settings.Promotions()]
])
