// The service counts what a list can be narrowed by, and hands out the filter
// that each box leads to: the page never puts one together.
import { graphql, readFragment, type FragmentOf } from './graphql'

export const TagFacets = graphql(`
  fragment TagFacets on ProductFacets {
    tags(first: 12) { value count selected toggled { tags { eq in } } }
  }
`)

const words = (tag: string) => tag.replaceAll('-', ' ')

/** Facets are check boxes. choose is told the tags that the list is to have next. */
export function Facets({ of, choose }: { of: FragmentOf<typeof TagFacets>; choose: (tags: string[]) => void }) {
  const { tags } = readFragment(TagFacets, of)
  if (!tags.length) return null
  return <fieldset className="facets">
    <legend>Show only</legend>
    {tags.map(({ value, count, selected, toggled }) => <label key={value} className="chip">
      <input type="checkbox" checked={selected} value={value}
        onChange={() => choose(toggled.tags?.in?.slice() ?? (toggled.tags?.eq ? [toggled.tags.eq] : []))} />
      {words(value)} <span className="muted">{count}<span className="hidden"> products</span></span>
    </label>)}
  </fieldset>
}
