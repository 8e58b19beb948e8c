// The shopper context, which every request sends in its headers. The choice is in a cookie,
// because the server renders pages by it too.
import type { Client } from '@urql/core'
import { createContext, useContext, useEffect, useState, type ReactNode } from 'react'
import { Provider } from 'urql'
import { clientFor } from './client'
import { config } from './config'
import { textsLanguage } from './texts'

export interface Shopper {
  language: string // BCP 47, one of `locales`: `fr`
  currency: string // ISO 4217; empty is the catalog's own
}

/** headersOf returns the shopper's headers, for a request or connection_init. */
export const headersOf = ({ language, currency }: Shopper): Record<string, string> => ({
  'Accept-Language': language,
  ...(currency && { 'X-Moltin-Currency': currency }),
  ...(config.channel && { 'Store-Channel': config.channel }),
  ...(config.tag && { 'Store-Context-Tag': config.tag })
})

/** cookie is the name of the cookie with `language.currency`. */
export const cookie = 'shopper'

const Context = createContext<[Shopper, (shopper: Shopper) => void] | undefined>(undefined)

/** useShopper returns the shopper, and a function to change it. */
export function useShopper() {
  const shopper = useContext(Context)
  if (!shopper) throw new Error('there is no Shopping around this')
  return shopper
}

/**
 * Shopping provides the shopper, and a client. The first client is made outside of React, which may render again before
 * the page is interactive: what the server found is then still in its cache.
 */
export function Shopping({ of, client: first, children }: { of: Shopper; client: Client; children: ReactNode }) {
  const [{ shopper, client }, set] = useState({ shopper: of, client: first })
  const change = (next: Shopper) => {
    document.cookie = `${cookie}=${next.language}.${next.currency}; path=/; max-age=31536000; samesite=lax`
    set({ shopper: next, client: clientFor(next) })
  }
  useEffect(() => { document.documentElement.lang = textsLanguage(shopper.language) }, [shopper.language])
  return <Context value={[shopper, change]}><Provider value={client}>{children}</Provider></Context>
}
