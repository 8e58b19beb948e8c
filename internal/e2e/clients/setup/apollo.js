import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client'
import { relayStylePagination } from '@apollo/client/utilities'
import shop from '../../../../examples/cache.json' with { type: 'json' }

const typePolicies = Object.fromEntries(shop.values.map(type => [type, { merge: true }]))
for (const [type, lists] of Object.entries(shop.lists))
  typePolicies[type] = { fields: Object.fromEntries(Object.entries(lists).map(([list, args]) => [list, relayStylePagination(args)])) }

export const apollo = (url, token) => new ApolloClient({
  cache: new InMemoryCache({ possibleTypes: shop.possibleTypes, typePolicies }),
  link: new HttpLink({ uri: `${url}/graphql`, headers: { Authorization: `Bearer ${token}` } })
})
