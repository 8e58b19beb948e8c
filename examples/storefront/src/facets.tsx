// The service returns the facets with counts, and the filter for each checkbox. The page
// sends that filter back as it is, and never builds one itself.
import { graphql, readFragment, type FragmentOf, type VariablesOf } from './graphql'
import { Amount, PriceRange } from './price_range'
import { useTexts } from './texts'

const FilterValues = graphql(`
  fragment FilterValues on ProductFilterValues {
    tags { in }
    productTypes { in }
    option { name in }
    attribute { key in ge le }
    price { ge le }
    inStock
  }
`)

export const FacetsOf = graphql(`
  fragment FacetsOf on ProductFacets {
    price { min { ...Amount } max { ...Amount } }
    groups(first: 12) { key label kind values { value label count selected toggled { ...FilterValues } } }
  }
`, [FilterValues, Amount])

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

/** Facets are checkboxes and a price range. They call choose with the new filter, as text for the URL. */
export function Facets({ of, filter, choose }: { of: FacetsData; filter: Filter; choose: (filter: string) => void }) {
  const texts = useTexts()
  const { price, groups } = readFragment(FacetsOf, of)
  const filtered = Object.keys(filter).length > 0
  return <details className="facets" open={filtered}>
    <summary>{texts.filter}</summary>
    {price && <PriceRange key={JSON.stringify(filter.price ?? {})} of={price} chosen={filter.price ?? {}} choose={price => choose(toURL({ ...filter, price }))} />}
    <fieldset>
      <legend>{texts.availability}</legend>
      <label className="choice">
        <input type="checkbox" name="inStock" checked={filter.inStock ?? false} onChange={({ target }) => choose(toURL({ ...filter, inStock: target.checked || null }))} />
        {texts.inStockOnly}
      </label>
    </fieldset>
    {groups.filter(({ kind, values }) => kind !== 'PRODUCT_TYPES' && values.length > 0).map(({ key, label, kind, values }) => <fieldset key={key} data-group={key}>
      <legend>{kind === 'TAGS' ? texts.tags : label}</legend>
      {values.map(({ value, label, count, selected, toggled }) => <label key={value} className="choice">
        <input type="checkbox" checked={selected} value={value} onChange={() => choose(toURL(readFragment(FilterValues, toggled)))} />
        {kind === 'TAGS' ? words(label) : label} <span className="muted">{count}</span>
      </label>)}
    </fieldset>)}
    {filtered && <button type="button" className="plain" onClick={() => choose('')}>{texts.clearFilters}</button>}
  </details>
}
