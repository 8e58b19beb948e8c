import { useCallback, useState } from 'react'
import { config } from './config'
import { graphql, readFragment, type FragmentOf } from './graphql'

export const PictureOf = graphql(`
  fragment PictureOf on File { id href mimeType width height }
`)

const widths = [160, 320, 640, 960, 1280]

// scaled returns the srcset of a picture, up to its own width.
function scaled(href: string, width: number | null) {
  if (!config.scaled || !width) return {}
  const url = (width: number) => config.scaled.replace('{width}', String(width)).replace('{href}', encodeURIComponent(href))
  const all = [...widths.filter(each => each < width), width]
  return { src: url(width), srcSet: all.map(each => `${url(each)} ${each}w`).join(', ') }
}

/** exists reports whether the browser can get a file. */
export const exists = (href: string) => config.pictures !== '' && href.startsWith(config.pictures)

const Placeholder = () => <svg className="picture placeholder" viewBox="0 0 120 90" aria-hidden="true">
  <path d="M44 31h32a4 4 0 0 1 4 4v22a4 4 0 0 1-4 4H44a4 4 0 0 1-4-4V35a4 4 0 0 1 4-4zM41 56l11-11 8 8 7-6 12 11" />
  <circle cx="68" cy="40" r="3" />
</svg>

/**
 * Picture shows a file, or a placeholder if there is none. sizes says how wide it is shown. Without alt it is decorative,
 * because the product's name is beside it. The browser reserves its space before it loads.
 */
export function Picture({ of, sizes, alt = '', eager }: { of: FragmentOf<typeof PictureOf> | null | undefined; sizes: string; alt?: string; eager?: boolean }) {
  const file = readFragment(PictureOf, of)
  const [broken, setBroken] = useState('')
  // A picture can fail before React listens.
  const check = useCallback((image: HTMLImageElement | null) => { if (image?.complete && !image.naturalWidth) setBroken(image.src) }, [])
  if (!file || !exists(file.href) || broken) return <Placeholder />
  const { href, width, height } = file
  return <img className="picture" ref={check} key={href} src={href} {...scaled(href, width)} sizes={sizes} alt={alt} width={width ?? 4} height={height ?? 3}
    loading={eager ? 'eager' : 'lazy'} fetchPriority={eager ? 'high' : 'auto'} decoding="async" onError={() => setBroken(href)} />
}
