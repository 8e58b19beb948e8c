import { graphql, readFragment, type FragmentOf } from './graphql'

export const ProductPath = graphql(`
  fragment ProductPath on Product { slug parent { id slug } childVariations { uuid option { uuid } } }
`)

/** productPath is the path of a product's page. A child uses its parent's, with its options chosen. */
export function productPath(of: FragmentOf<typeof ProductPath>) {
  const { slug, parent, childVariations } = readFragment(ProductPath, of)
  if (!parent) return `/p/${encodeURIComponent(slug ?? '')}`
  return `/p/${encodeURIComponent(parent.slug ?? '')}?options=${childVariations.flatMap(({ option }) => option ? [option.uuid] : []).join()}`
}

type Step = { slug: string | null }

/** categoryPath is the path of a node's page: the slugs from the hierarchy down, which is first in ancestors and left out. */
export const categoryPath = (ancestors: readonly Step[], { slug }: Step) =>
  ancestors.length ? `/c/${[...ancestors.slice(1), { slug }].map(step => encodeURIComponent(step.slug ?? '')).join('/')}` : '/'
