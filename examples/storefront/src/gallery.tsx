// The pictures of a product: a large one, and small ones to choose it by.
import { useState } from 'react'
import { graphql, readFragment, type FragmentOf } from './graphql'
import { exists, Picture, PictureOf } from './picture'
import { useTexts } from './texts'

export const GalleryOf = graphql(`
  fragment GalleryOf on Product {
    mainImage { id href ...PictureOf }
    files { file { id fileName href mimeType ...PictureOf } }
  }
`, [PictureOf])

type GalleryData = FragmentOf<typeof GalleryOf>

const picturesOf = (of: GalleryData) => {
  const { mainImage, files } = readFragment(GalleryOf, of)
  return [...(mainImage ? [mainImage] : []), ...files.map(({ file }) => file).filter(({ mimeType }) => mimeType?.startsWith('image/'))]
}

/** Gallery shows the pictures of products, each once: first those of the chosen variant, then those of its parent. */
export function Gallery({ of, name }: { of: readonly GalleryData[]; name: string }) {
  const texts = useTexts()
  const [chosen, choose] = useState('')
  const pictures = [...new Map(of.flatMap(picturesOf).filter(({ href }) => exists(href)).map(file => [file.id, file])).values()]
  const shown = pictures.find(({ id }) => id === chosen) ?? pictures[0]
  return <div className="gallery">
    <Picture key={shown?.id} of={shown} alt={shown ? name : ''} sizes="(min-width: 48rem) 36rem, 100vw" eager />
    {pictures.length > 1 && <ul aria-label={texts.pictures}>
      {pictures.map((file, i) => <li key={file.id}>
        <button type="button" aria-label={texts.picture(i + 1, pictures.length)} aria-pressed={file === shown} onClick={() => choose(file.id)}>
          <Picture of={file} sizes="5rem" />
        </button>
      </li>)}
    </ul>}
  </div>
}

/** Downloads links the documents of a product. */
export function Downloads({ of }: { of: GalleryData }) {
  const texts = useTexts()
  const files = readFragment(GalleryOf, of).files.filter(({ file }) => !file.mimeType?.startsWith('image/'))
  return files.length ? <section aria-labelledby="downloads">
    <h2 id="downloads">{texts.downloads}</h2>
    <ul>{files.map(({ file: { id, fileName, href } }) => <li key={id}><a href={href}>{fileName}</a></li>)}</ul>
  </section> : null
}
