// The shopper context, which every request sends in its headers.
import { createContext, useContext, useMemo, useState, type ReactNode } from 'react'
import { Provider } from 'urql'
import { clientFor } from './client'

export interface Shopper {
  language: string // BCP 47: `fr`
  currency: string // ISO 4217; empty is the catalog's own
}

export const languages = ['en', 'de', 'fr']

const { VITE_CHANNEL: channel, VITE_TAG: tag } = import.meta.env

/** headersOf returns the shopper's headers, for a request or connection_init. */
export const headersOf = ({ language, currency }: Shopper): Record<string, string> => ({
  'Accept-Language': language,
  ...(currency && { 'X-Moltin-Currency': currency }),
  ...(channel && { 'Store-Channel': channel }),
  ...(tag && { 'Store-Context-Tag': tag })
})

const kept = 'shopper'

function remembered(): Shopper {
  const spoken = navigator.languages.map(tag => tag.slice(0, 2)).find(tag => languages.includes(tag))
  const fallback = { language: spoken ?? 'en', currency: '' }
  try {
    return { ...fallback, ...JSON.parse(localStorage.getItem(kept) ?? '{}') }
  } catch {
    return fallback
  }
}

const Context = createContext<[Shopper, (shopper: Shopper) => void] | undefined>(undefined)

/** useShopper returns the shopper, and a function to change it. */
export function useShopper() {
  const shopper = useContext(Context)
  if (!shopper) throw new Error('there is no Shopping around this')
  return shopper
}

export function Shopping({ children }: { children: ReactNode }) {
  const [shopper, setShopper] = useState(remembered)
  const client = useMemo(() => clientFor(shopper), [shopper])
  const change = (next: Shopper) => {
    localStorage.setItem(kept, JSON.stringify(next))
    setShopper(next)
  }
  return <Context value={[shopper, change]}><Provider value={client}>{children}</Provider></Context>
}
