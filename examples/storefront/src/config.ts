/** Config is what a page needs to know of its shop. It holds no secrets. */
export interface Config {
  service: string // URL of the service
  clientId: string
  channel: string
  tag: string
  site: string // URL of this storefront, for canonical links: `https://shop.example`; empty makes them paths
  pictures: string // beginning of the URLs of pictures that exist
  scaled: string // URL of a scaled picture, with {width} and {href}; empty without such a service
}

/** Initial is what a page gets from the server that rendered it, in the element `#initial`. */
export interface Initial {
  config: Config
  shopper: { language: string; currency: string }
  data: Record<string, never> // results of the queries, by their keys
}

const ofEnvironment = ({ STOREFRONT_URL, STOREFRONT_CLIENT_ID, STOREFRONT_CHANNEL, STOREFRONT_TAG, STOREFRONT_SITE, STOREFRONT_PICTURES, STOREFRONT_PICTURES_SCALED }: NodeJS.ProcessEnv): Config => ({
  service: STOREFRONT_URL ?? 'http://127.0.0.1:8080',
  clientId: STOREFRONT_CLIENT_ID ?? 'demo',
  channel: STOREFRONT_CHANNEL ?? '',
  tag: STOREFRONT_TAG ?? '',
  site: STOREFRONT_SITE ?? '',
  pictures: STOREFRONT_PICTURES ?? '',
  scaled: STOREFRONT_PICTURES_SCALED ?? ''
})

export const initial: Initial | undefined = import.meta.env.SSR ? undefined : JSON.parse(document.getElementById('initial')!.textContent)

export const config: Config = initial?.config ?? ofEnvironment(process.env)
