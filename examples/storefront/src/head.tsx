// What search engines read of a page.
import { config } from './config'
import { graphql, readFragment, type FragmentOf } from './graphql'
import { exists } from './picture'
import { digitsOf } from './price_range'

/** Head is the title, description and canonical link of a page. Pages without a path are not to be indexed. */
export function Head({ title, description, path }: { title: string; description?: string | null; path?: string }) {
  return <>
    <title>{title}</title>
    {description && <meta name="description" content={description} />}
    {path ? <link rel="canonical" href={config.site + path} /> : <meta name="robots" content="noindex" />}
  </>
}

export const OfferOf = graphql(`
  fragment OfferOf on Product {
    sku
    name
    availability
    mainImage { id href }
    seo { title description }
    priceRange {
      min { money { amount currency } }
      max { money { amount currency } }
    }
  }
`)

const availabilities = { IN_STOCK: 'InStock', LOW: 'LimitedAvailability', OUT: 'OutOfStock', UNTRACKED: 'InStock' }

/** ProductHead is the head of a product's page, with its price and availability as https://schema.org/Product. */
export function ProductHead({ of, path }: { of: FragmentOf<typeof OfferOf>; path: string }) {
  const { sku, name, availability, mainImage, seo, priceRange } = readFragment(OfferOf, of)
  const [min, max] = [priceRange?.min, priceRange?.max].map(price => price?.money)
  const major = ({ amount, currency }: { amount: string; currency: string }) => (Number(amount) / 10 ** digitsOf(currency)).toFixed(digitsOf(currency))
  const product = {
    '@context': 'https://schema.org', '@type': 'Product',
    name, sku, description: seo.description ?? undefined, url: config.site + path, image: mainImage && exists(mainImage.href) ? mainImage.href : undefined,
    offers: min && max && {
      ...min.amount === max.amount ? { '@type': 'Offer', price: major(min) } : { '@type': 'AggregateOffer', lowPrice: major(min), highPrice: major(max) },
      priceCurrency: min.currency,
      availability: availability ? `https://schema.org/${availabilities[availability]}` : undefined
    }
  }
  return <>
    <Head {...seo} path={path} />
    <script type="application/ld+json" dangerouslySetInnerHTML={{ __html: JSON.stringify(product).replaceAll('<', '\\u003c') }} />
  </>
}
