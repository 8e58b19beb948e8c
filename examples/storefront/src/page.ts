// What components tell the server about the page that it renders.
import { createContext, useContext } from 'react'

export interface Page {
  status: number
  location?: string // of a redirect
}

export const PageContext = createContext<Page>({ status: 200 })

/** useStatus sets the HTTP status of the page, for example 404. */
export function useStatus(status: number, location?: string) {
  const page = useContext(PageContext)
  if (!import.meta.env.SSR) return
  page.status = status
  if (location) page.location = location
}
