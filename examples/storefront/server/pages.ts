// Answers requests for pages, in development and in production.
import type { IncomingMessage } from 'node:http'
import type * as entry from '../src/entry_server'

/** Source returns the rendering code, and the template that index.html is for a path. */
export type Source = (path: string) => Promise<{ entry: Pick<typeof entry, 'render' | 'languageFor'>; template: string }>

export interface Answer { status: number; headers: Record<string, string>; body: string }

const cookie = /(?:^|;\s*)shopper=([a-zA-Z0-9-]{0,35})\.([A-Z]{0,3})(?:;|$)/

/** pages returns a function that renders the page of a request. */
export const pages = (source: Source) => async ({ url = '/', headers }: IncomingMessage): Promise<Answer> => {
  try {
    const { entry, template } = await source(url)
    const [, chosen = '', currency = ''] = cookie.exec(headers.cookie ?? '') ?? []
    const language = await entry.languageFor(chosen || (headers['accept-language'] ?? ''))
    const { status, location, html } = await entry.render(template, url, { language, currency })
    if (location) return { status, headers: { Location: location }, body: '' }
    return {
      status, body: html,
      headers: { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'private, no-cache', Vary: 'Cookie, Accept-Language, Accept-Encoding' }
    }
  } catch (error) {
    console.error(error)
    return { status: 500, headers: { 'Content-Type': 'text/plain' }, body: 'The page cannot be shown.' }
  }
}
