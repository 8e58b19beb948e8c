import { gql } from '@urql/core'
import { urql } from './setup/urql.js'
import { suite } from './suite.js'
import { operation, token, url } from './shop.js'

const data = ({ data, error, stale }) => {
  if (error) throw error
  if (!data || stale) throw new Error('the cache has lost members')
  return data
}

suite(() => {
  const client = urql(url, token)
  const query = (name, variables, requestPolicy) => client.query(operation(name).document, variables, { requestPolicy }).toPromise().then(data)
  return {
    ask: (name, variables) => query(name, variables, 'network-only'),
    kept: (name, variables) => query(name, variables, 'cache-only'),
    more: (name, variables) => query(name, variables, 'network-only'),
    grown: (name, variables) => query(name, variables, 'cache-only'),
    mutate: text => client.mutation(gql(text), {}).toPromise().then(data)
  }
})
