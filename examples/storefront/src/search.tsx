// Search results, as a list that grows. Categories have numbered pages.
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { useQuery } from 'urql'
import { CardOf, Cards } from './card'
import { choicesOf, Facets, FacetsOf, isNarrowed, type Choices } from './facets'
import { graphql } from './graphql'
import { Head } from './head'
import { Ways } from './menu'
import { useTexts } from './texts'
import { Trouble, WaitingPage } from './trouble'

const Search = graphql(`
  query Search($filter: ProductFilter!, $facets: FacetState, $after: String) {
    products(filter: $filter, facets: $facets, variants: PARENTS, orderBy: { field: RELEVANCE }, first: 9, after: $after) {
      totalCount
      correctedTo
      edges { node { id ...CardOf } }
      pageInfo { hasNextPage endCursor }
      facets { ...FacetsOf }
    }
  }
`, [CardOf, FacetsOf])

function Found({ words, choices, choose }: { words: string; choices: Choices; choose: (changes: Partial<Record<keyof Choices, string>>) => void }) {
  const texts = useTexts()
  const [after, setAfter] = useState<string | null>(null)
  const [{ data, error, fetching }, ask] = useQuery({ query: Search, variables: { filter: { ...choices.filter, search: words }, facets: choices.facets, after } })
  const list = data?.products
  if (error && !list) return <Trouble error={error} again={ask} />
  if (!list) return <WaitingPage />
  const { edges, totalCount, correctedTo, pageInfo, facets } = list
  if (!totalCount && !isNarrowed(choices)) return <div role="status"><p className="lead">{texts.noResults}</p><Ways /></div>
  return <div className="listing">
    <Facets of={facets} chosen={choices} choose={choose} />
    <div>
      <div className="tools"><p className="muted" role="status">
        {correctedTo && <strong>{texts.correctedTo(correctedTo)}. </strong>}{texts.productCount(totalCount)}
      </p></div>
      {totalCount ? <Cards products={edges.map(({ node }) => node)} busy={fetching} top level="h2" /> : <p>{texts.noMatches}</p>}
      {pageInfo.hasNextPage && <button type="button" className="more" disabled={fetching} onClick={() => setAfter(pageInfo.endCursor)}>{texts.showMore}</button>}
    </div>
  </div>
}

export function SearchPage() {
  const texts = useTexts()
  const [chosen, setChosen] = useSearchParams()
  const words = chosen.get('q') ?? ''
  const choose = (changes: Partial<Record<keyof Choices, string>>) => {
    const next = new URLSearchParams(chosen)
    for (const [name, value] of Object.entries(changes)) value ? next.set(name, value) : next.delete(name)
    setChosen(next, { preventScrollReset: true })
  }
  const title = words ? texts.resultsFor(words) : texts.allProducts
  return <>
    <Head title={title} />
    <h1>{title}</h1>
    <Found key={chosen.toString()} words={words} choices={choicesOf(chosen)} choose={choose} />
  </>
}
