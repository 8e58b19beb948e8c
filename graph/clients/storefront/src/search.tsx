// Search results as one growing list. `relayPagination` in client.ts merges its pages.
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { useQuery } from 'urql'
import { CardOf, Cards } from './card'
import { Facets, TagFacets } from './facets'
import { graphql } from './graphql'
import { Trouble, Waiting } from './trouble'

const Search = graphql(`
  query Search($filter: ProductFilter!, $after: String) {
    products(filter: $filter, orderBy: { field: RELEVANCE }, first: 6, after: $after) {
      totalCount
      edges { node { id ...CardOf } }
      pageInfo { hasNextPage endCursor }
      facets { ...TagFacets }
    }
  }
`, [CardOf, TagFacets])

function Found({ words, tags, choose }: { words: string; tags: string[]; choose: (tags: string[]) => void }) {
  const [after, setAfter] = useState<string | null>(null)
  const filter = { search: words, ...(tags.length && { tags: { in: tags } }) }
  const [{ data, error, fetching }, ask] = useQuery({ query: Search, variables: { filter, after } })
  if (error && !data) return <Trouble error={error} again={ask} />
  const list = data?.products
  if (!list) return <Waiting />
  const { edges, totalCount, pageInfo, facets } = list
  return <>
    <Facets of={facets} choose={choose} />
    <p className="muted" role="status">{totalCount === 1 ? '1 product' : `${totalCount} products`}{edges.length < totalCount && `, ${edges.length} of them shown`}</p>
    <Cards products={edges.map(({ node }) => node)} busy={fetching} level="h2" />
    {pageInfo.hasNextPage && <button type="button" className="more" disabled={fetching} onClick={() => setAfter(pageInfo.endCursor)}>Show more</button>}
  </>
}

export function SearchPage() {
  const [chosen, setChosen] = useSearchParams()
  const words = chosen.get('q') ?? ''
  const tags = chosen.get('tags')?.split(',').filter(Boolean) ?? []
  const choose = (tags: string[]) => setChosen({ q: words, ...(tags.length && { tags: tags.join() }) })
  return <>
    <title>{`“${words}”`}</title>
    <h1>{words ? `Results for “${words}”` : 'All products'}</h1>
    <Found key={chosen.toString()} words={words} tags={tags} choose={choose} />
  </>
}
