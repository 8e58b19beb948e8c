import { Client, fetchExchange } from '@urql/core'
import { cacheExchange } from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'
import shop from '../../../../examples/cache.json' with { type: 'json' }

const keys = Object.fromEntries(shop.keyless.map(type => [type, () => null]))
const resolvers = { CatalogNode: { products: relayPagination() }, Query: { stocks: relayPagination() } } // the lists that grow
export const urql = (url, token) => new Client({
  url: `${url}/graphql`,
  fetchOptions: { headers: { Authorization: `Bearer ${token}` } },
  exchanges: [cacheExchange({ keys, resolvers, possibleTypes: shop.possibleTypes }), fetchExchange]
})
