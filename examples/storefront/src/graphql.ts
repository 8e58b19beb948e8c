// Documents are typed inline by gql.tada. `npm run types` generates the types from the
// schema at each start and build.
import { initGraphQLTada } from 'gql.tada'
import type { introspection } from '../generated/graphql-env.d.ts'

export const graphql = initGraphQLTada<{ introspection: introspection; scalars: { DateTime: string; FacetState: string; Secret: string; JSON: unknown } }>()
export { readFragment, type FragmentOf, type ResultOf, type VariablesOf } from 'gql.tada'
