// The GraphQL client: a cache normalized by id, a token that is renewed, and one WebSocket
// for all subscriptions.
import { Client, fetchExchange, ssrExchange, subscriptionExchange, type SSRData } from '@urql/core'
import { authExchange } from '@urql/exchange-auth'
import { cacheExchange } from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'
import { createClient } from 'graphql-ws'
import shop from '../../cache.json'
import { config } from './config'
import { headersOf, type Shopper } from './shopper'
import { spent, token } from './token'

// The WebSocket opens with the first subscription and closes after the last. It reconnects
// with a current token.
const sockets = (shopper: Shopper) => createClient({
  url: `${config.service.replace(/^http/, 'ws')}/graphql`,
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

/** rendered holds the results of queries that the server ran, for the page. */
export const rendered = (initialState?: SSRData) => ssrExchange({ isClient: !import.meta.env.SSR, ...(initialState && { initialState }) })

/**
 * clientFor returns the client of a shopper. The same query has other results with another
 * language, currency or catalog, so each shopper has a client with its own cache. On the
 * server, components wait for their queries.
 */
export function clientFor(shopper: Shopper, results = rendered()) {
  const live = import.meta.env.SSR ? undefined : sockets(shopper)
  return new Client({
    url: `${config.service}/graphql`,
    suspense: import.meta.env.SSR,
    fetchOptions: { headers: headersOf(shopper) },
    exchanges: [cache(), results, auth(), fetchExchange, subscriptionExchange({
      forwardSubscription: ({ query = '', variables }) => ({
        subscribe: sink => ({ unsubscribe: live?.subscribe({ query, variables }, sink) ?? (() => {}) })
      })
    })]
  })
}
