// Documents are typed where they are written: the types are read off the
// schema, by `npm run types`, and are never older than the last start or build.
import { initGraphQLTada } from 'gql.tada'
import type { introspection } from '../generated/graphql-env.d.ts'

export const graphql = initGraphQLTada<{ introspection: introspection; scalars: { DateTime: string; Secret: string; JSON: unknown } }>()
export { readFragment, type FragmentOf, type ResultOf, type VariablesOf } from 'gql.tada'
