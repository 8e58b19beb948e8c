// The GraphQL client: a cache that knows each thing by its id, a token that is
// renewed, and one WebSocket for all that is live.
import { Client, fetchExchange, subscriptionExchange } from '@urql/core'
import { authExchange } from '@urql/exchange-auth'
import { cacheExchange } from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'
import { createClient } from 'graphql-ws'
import shop from '../../cache.json'
import { headersOf, type Shopper } from './shopper'
import { service, spent, token } from './token'

// A live connection is opened with the first subscription and closed after the
// last. When it breaks it comes again, with a token of that time.
const sockets = (shopper: Shopper) => createClient({
  url: `${service.replace(/^http/, 'ws')}/graphql`,
  connectionParams: async () => ({ ...headersOf(shopper), Authorization: `Bearer ${await token()}` }),
  retryAttempts: 10,
  shouldRetry: () => true
})

// Products grow by pages in one list of search; categories are read page by
// page, by offset, and need no resolver.
const cache = () => cacheExchange({
  keys: Object.fromEntries(shop.keyless.map(type => [type, () => null])),
  possibleTypes: shop.possibleTypes,
  resolvers: { Query: { products: relayPagination() } }
})

const auth = () => authExchange(async utils => {
  const ask = () => token().catch(() => '') // the service then says what is wrong, and the page shows it
  let held = await ask()
  return {
    addAuthToOperation: operation => utils.appendHeaders(operation, { Authorization: `Bearer ${held}` }),
    didAuthError: ({ graphQLErrors }) => graphQLErrors.some(({ extensions }) => extensions.code === 'UNAUTHENTICATED'),
    async refreshAuth() {
      spent()
      held = await ask()
    }
  }
})

/**
 * clientFor is a client of one shopper. Language, currency and catalog decide
 * what the same query answers, so that another shopper is another client, whose
 * cache is empty.
 */
export function clientFor(shopper: Shopper) {
  const live = sockets(shopper)
  return new Client({
    url: `${service}/graphql`,
    fetchOptions: { headers: headersOf(shopper) },
    exchanges: [cache(), auth(), fetchExchange, subscriptionExchange({
      forwardSubscription: ({ query = '', variables }) => ({
        subscribe: sink => ({ unsubscribe: live.subscribe({ query, variables }, sink) })
      })
    })]
  })
}
