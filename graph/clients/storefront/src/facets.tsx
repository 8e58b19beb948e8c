// The service returns the facets with counts, and the filter for each checkbox. The page
// sends that filter back as it is, and never builds one itself.
import { graphql, readFragment, type FragmentOf, type VariablesOf } from './graphql'
import { useTexts } from './texts'

const FilterValues = graphql(`
  fragment FilterValues on ProductFilterValues {
    tags { eq in }
    inStock
  }
`)

export const FacetsOf = graphql(`
  fragment FacetsOf on ProductFacets {
    tags(first: 12) { value count selected toggled { ...FilterValues } }
  }
`, [FilterValues])

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

/** toURL returns a filter as text for the URL. */
export function toURL(filter: unknown): string {
  const input = toInput(filter) as object
  return Object.keys(input).length ? JSON.stringify(input) : ''
}

const words = (tag: string) => tag.replaceAll('-', ' ')

type FacetsData = FragmentOf<typeof FacetsOf>

/** Facets are checkboxes. They call choose with the new filter, as text for the URL. */
export function Facets({ of, filter, choose }: { of: FacetsData; filter: Filter; choose: (filter: string) => void }) {
  const texts = useTexts()
  const { tags } = readFragment(FacetsOf, of)
  const filtered = Object.keys(filter).length > 0
  return <details className="facets" open={filtered}>
    <summary>{texts.filter}</summary>
    <fieldset>
      <legend>{texts.availability}</legend>
      <label className="choice">
        <input type="checkbox" name="inStock" checked={filter.inStock ?? false} onChange={({ target }) => choose(toURL({ ...filter, inStock: target.checked || null }))} />
        {texts.inStockOnly}
      </label>
    </fieldset>
    {tags.length > 0 && <fieldset>
      <legend>{texts.tags}</legend>
      {tags.map(({ value, count, selected, toggled }) => <label key={value} className="choice">
        <input type="checkbox" checked={selected} value={value} onChange={() => choose(toURL(readFragment(FilterValues, toggled)))} />
        {words(value)} <span className="muted">{count}</span>
      </label>)}
    </fieldset>}
    {filtered && <button type="button" className="plain" onClick={() => choose('')}>{texts.clearFilters}</button>}
  </details>
}
