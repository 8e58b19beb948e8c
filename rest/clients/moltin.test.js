'use strict'

const { run, notServed } = require('./sdk.js')

const sdk = run({ name: 'moltin', ...require('@moltin/sdk'), key: 'moltinCredentials' })

notServed(sdk, [
  ['Promotions.Attributes', 404, ep => ep.Promotions.Attributes()],
  ['Promotions.History', 404, ep => ep.Promotions.History('any')],
  ['Gateways.GetSlugAttributes', 404, ep => ep.Gateways.GetSlugAttributes('card_processor')],
  ['Settings.Delete', 405, ep => ep.Settings.Delete()]
])
