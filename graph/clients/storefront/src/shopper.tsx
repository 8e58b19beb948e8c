// Who is shopping: what every request says by its headers.
import { createContext, useContext, useMemo, useState, type ReactNode } from 'react'
import { Provider } from 'urql'
import { clientFor } from './client'

export interface Shopper {
  language: string // BCP 47: `fr`
  currency: string // ISO 4217; empty is the catalog's own
}

export const languages = ['en', 'de', 'fr']

const { VITE_CHANNEL: channel, VITE_TAG: tag } = import.meta.env

/** headersOf is how a request, or a WebSocket's first message, tells the shopper. */
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

/** useShopper is the shopper, and how to make them another. */
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
