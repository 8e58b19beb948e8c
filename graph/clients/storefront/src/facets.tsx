// The service returns the facets with counts, and the filter for each checkbox. The page
// never builds a filter itself.
import { graphql, readFragment, type FragmentOf } from './graphql'

export const TagFacets = graphql(`
  fragment TagFacets on ProductFacets {
    tags(first: 12) { value count selected toggled { tags { eq in } } }
  }
`)

const words = (tag: string) => tag.replaceAll('-', ' ')

/** Facets are checkboxes. They call choose with the new tags. */
export function Facets({ of, choose }: { of: FragmentOf<typeof TagFacets>; choose: (tags: string[]) => void }) {
  const { tags } = readFragment(TagFacets, of)
  if (!tags.length) return null
  return <fieldset className="facets">
    <legend>Filter</legend>
    {tags.map(({ value, count, selected, toggled }) => <label key={value} className="chip">
      <input type="checkbox" checked={selected} value={value}
        onChange={() => choose(toggled.tags?.in?.slice() ?? (toggled.tags?.eq ? [toggled.tags.eq] : []))} />
      {words(value)} <span className="muted">{count}<span className="hidden"> products</span></span>
    </label>)}
  </fieldset>
}
