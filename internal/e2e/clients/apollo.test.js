import { gql } from '@apollo/client'
import { apollo } from './setup/apollo.js'
import { suite } from './suite.js'
import { operation, token, url } from './shop.js'

suite(() => {
  const client = apollo(url, token)
  const watched = {}
  const first = (name, variables) => watched[name] ??= client.watchQuery({ query: operation(name).document, variables })
  const kept = async (name, variables) => {
    const { data } = await client.query({ query: operation(name).document, variables, fetchPolicy: 'cache-only' })
    if (!data) throw new Error(`${name}: the cache has lost members`)
    return data
  }
  return {
    ask: async (name, variables) => (await client.query({ query: operation(name).document, variables, fetchPolicy: 'network-only' })).data,
    kept,
    more: async (name, { after, ...variables }) => first(name, variables).fetchMore({ variables: { after } }),
    grown: kept,
    mutate: text => client.mutate({ mutation: gql(text) })
  }
})
