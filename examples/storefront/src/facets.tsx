// The service returns the facets with counts, and for each checkbox what to send next, which the page
// never looks into. Only the price and the stock are conditions of its own.
import { graphql, readFragment, type FragmentOf, type VariablesOf } from './graphql'
import { Amount, PriceRange } from './price_range'
import { useTexts } from './texts'

export const FacetsOf = graphql(`
  fragment FacetsOf on ProductFacets {
    minPrice { ...Amount } maxPrice { ...Amount }
    groups(first: 12) { key label kind values { value label count selected toggled } }
  }
`, [Amount])

const Filtered = graphql(`query Filtered($filter: ProductFilter) { products(filter: $filter) { totalCount } }`)

export type Filter = NonNullable<VariablesOf<typeof Filtered>['filter']>

/** Choices are what a list is narrowed by. */
export interface Choices { filter: Filter; facets: string }

/** choicesOf returns the choices that are in the URL. The service checks them. */
export function choicesOf(search: URLSearchParams): Choices {
  const facets = search.get('facets') ?? ''
  try {
    const filter = JSON.parse(search.get('filter') ?? '{}')
    return { filter: filter && typeof filter === 'object' && !Array.isArray(filter) ? filter : {}, facets }
  } catch {
    return { filter: {}, facets }
  }
}

/** isNarrowed reports whether anything is chosen. */
export const isNarrowed = ({ filter, facets }: Choices) => facets !== '' || Object.keys(filter).length > 0

// toURL returns a filter as text for the URL, empty for none.
function toURL(filter: Filter): string {
  const entries = Object.entries(filter).filter(([, of]) => of !== null)
  return entries.length ? JSON.stringify(Object.fromEntries(entries)) : ''
}

const words = (tag: string) => tag.replaceAll('-', ' ')

type FacetsData = FragmentOf<typeof FacetsOf>

/** Facets are checkboxes and a price range. They call choose with what changes, as texts for the URL. */
export function Facets({ of, chosen, choose }: { of: FacetsData; chosen: Choices; choose: (changes: { filter?: string; facets?: string }) => void }) {
  const texts = useTexts()
  const { minPrice, maxPrice, groups } = readFragment(FacetsOf, of)
  const { filter } = chosen
  return <details className="facets" open={isNarrowed(chosen)}>
    <summary>{texts.filter}</summary>
    {minPrice && maxPrice && <PriceRange key={JSON.stringify(filter.price ?? {})} of={{ min: minPrice, max: maxPrice }} chosen={filter.price ?? {}} choose={price => choose({ filter: toURL({ ...filter, price }) })} />}
    <fieldset>
      <legend>{texts.availability}</legend>
      <label className="choice">
        <input type="checkbox" name="inStock" checked={filter.inStock ?? false} onChange={({ target }) => choose({ filter: toURL({ ...filter, inStock: target.checked || null }) })} />
        {texts.inStockOnly}
      </label>
    </fieldset>
    {groups.filter(({ kind, values }) => kind !== 'PRODUCT_TYPES' && values.length > 0).map(({ key, label, kind, values }) => <fieldset key={key} data-group={key}>
      <legend>{kind === 'TAGS' ? texts.tags : label}</legend>
      {values.map(({ value, label, count, selected, toggled }) => <label key={value} className="choice">
        <input type="checkbox" checked={selected} value={value} onChange={() => choose({ facets: toggled })} />
        {kind === 'TAGS' ? words(label) : label} <span className="muted">{count}</span>
      </label>)}
    </fieldset>)}
    {isNarrowed(chosen) && <button type="button" className="plain" onClick={() => choose({ filter: '', facets: '' })}>{texts.clearFilters}</button>}
  </details>
}
