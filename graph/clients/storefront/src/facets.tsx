// The service returns the facets with counts, and the filter for each checkbox. The page
// sends that filter back as it is, and never builds one itself.
import { graphql, readFragment, type FragmentOf, type VariablesOf } from './graphql'
import { useTexts } from './texts'

export const FacetsOf = graphql(`
  fragment FacetsOf on ProductFacets {
    tags(first: 12) { value count selected toggled { tags { eq in } } }
  }
`)

const Filtered = graphql(`query Filtered($filter: ProductFilter) { products(filter: $filter) { totalCount } }`)

export type Filter = NonNullable<VariablesOf<typeof Filtered>['filter']>

// toInput removes what an input cannot have: nulls and __typename.
function toInput(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toInput)
  if (!value || typeof value !== 'object') return value
  const entries = Object.entries(value).filter(([name, of]) => of !== null && name !== '__typename').map(([name, of]) => [name, toInput(of)])
  return Object.fromEntries(entries)
}

/** filterOf returns the filter that is in the URL. The service checks it. */
export function filterOf(search: URLSearchParams): Filter {
  try {
    const filter = JSON.parse(search.get('filter') ?? '{}')
    return filter && typeof filter === 'object' && !Array.isArray(filter) ? filter : {}
  } catch {
    return {}
  }
}

/** toURL returns a filter as text for the URL. The words of a search are not part of it. */
export function toURL(filter: unknown): string {
  const { search, ...rest } = toInput(filter) as Filter
  return Object.keys(rest).length ? JSON.stringify(rest) : ''
}

const words = (tag: string) => tag.replaceAll('-', ' ')

/** Facets are checkboxes. They call choose with the new filter, as text for the URL. */
export function Facets({ of, filter, choose }: { of: FragmentOf<typeof FacetsOf>; filter: Filter; choose: (filter: string) => void }) {
  const texts = useTexts()
  const { tags } = readFragment(FacetsOf, of)
  return <details className="facets" open={Object.keys(filter).length > 0}>
    <summary>{texts.filter}</summary>
    {tags.length > 0 && <fieldset>
      <legend>{texts.tags}</legend>
      {tags.map(({ value, count, selected, toggled }) => <label key={value} className="choice">
        <input type="checkbox" checked={selected} value={value} onChange={() => choose(toURL(toggled))} />
        {words(value)} <span className="muted">{count}</span>
      </label>)}
    </fieldset>}
    {Object.keys(filter).length > 0 && <button type="button" className="plain" onClick={() => choose('')}>{texts.clearFilters}</button>}
  </details>
}
