import { graphql, readFragment, type FragmentOf } from './graphql'

export const ProductPath = graphql(`
  fragment ProductPath on Product { slug parent { id slug } childVariations { uuid option { uuid } } }
`)

/** productPath is the path of a product's page. A child uses its parent's, with its options chosen. */
export function productPath(of: FragmentOf<typeof ProductPath>) {
  const { slug, parent, childVariations } = readFragment(ProductPath, of)
  if (!parent) return `/p/${slug}`
  return `/p/${parent.slug}?options=${childVariations.flatMap(({ option }) => option ? [option.uuid] : []).join()}`
}

export const categoryPath = ({ slug }: { slug: string }) => `/c/${slug}`
