import { Drawing } from './drawing'
import { graphql, readFragment, type FragmentOf } from './graphql'

export const PictureOf = graphql(`
  fragment PictureOf on Product { id tags mainImage { id fileName href width height } }
`)

const from: string = import.meta.env.VITE_PICTURES

/**
 * Picture shows a product's main image if it is public, else a drawing. It needs no alt
 * text, because the name is beside it.
 */
export function Picture({ of, eager }: { of: FragmentOf<typeof PictureOf>; eager?: boolean }) {
  const { id, tags, mainImage } = readFragment(PictureOf, of)
  if (from && mainImage?.href.startsWith(from)) {
    return <img className="picture" src={mainImage.href} alt="" width={mainImage.width ?? 4} height={mainImage.height ?? 3} loading={eager ? 'eager' : 'lazy'} />
  }
  return <Drawing kind={mainImage?.fileName.replace(/\..*$/, '') ?? ''} cold={tags.includes('cold')} seed={id} />
}
