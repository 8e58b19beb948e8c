// The GraphQL client: a cache normalized by id, a token that is renewed, and one WebSocket
// for all subscriptions.
import { Client, fetchExchange, subscriptionExchange } from '@urql/core'
import { authExchange } from '@urql/exchange-auth'
import { cacheExchange } from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'
import { createClient } from 'graphql-ws'
import shop from '../../cache.json'
import { headersOf, type Shopper } from './shopper'
import { service, spent, token } from './token'

// The WebSocket opens with the first subscription and closes after the last. It reconnects
// with a current token.
const sockets = (shopper: Shopper) => createClient({
  url: `${service.replace(/^http/, 'ws')}/graphql`,
  connectionParams: async () => ({ ...headersOf(shopper), Authorization: `Bearer ${await token()}` }),
  retryAttempts: 10,
  shouldRetry: () => true
})

// Search results are merged into one growing list. Categories are read page by page with
// offset, and need no cache resolver.
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
 * clientFor returns the client of a shopper. The same query has other results with another
 * language, currency or catalog, so each shopper has a client with its own cache.
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
