// Renders pages on the server: React waits for the queries, and the page gets their results.
import { StrictMode } from 'react'
import { prerenderToNodeStream } from 'react-dom/static'
import { StaticRouter } from 'react-router'
import { text } from 'node:stream/consumers'
import { clientFor, rendered } from './client'
import { config, type Initial } from './config'
import { Frame } from './frame'
import { PageContext, type Page } from './page'
import { Shopping, type Shopper } from './shopper'
import { textsLanguage } from './texts'

export { languageFor } from './language'

// React writes the title before the content.
const titles = /^(?:<title>[^<]*<\/title>|<(?:link|meta)\b[^>]*>)+/

/** render returns the page at a path for a shopper, in the template of index.html. */
export async function render(template: string, path: string, shopper: Shopper): Promise<Page & { html: string }> {
  const page: Page = { status: 200 }
  const results = rendered()
  const { prelude } = await prerenderToNodeStream(
    <PageContext value={page}><StrictMode><Shopping of={shopper} client={clientFor(shopper, results)}>
      <StaticRouter location={path}><Frame /></StaticRouter>
    </Shopping></StrictMode></PageContext>)
  const body = await text(prelude)
  const [head = ''] = titles.exec(body) ?? []
  const initial = JSON.stringify({ config, shopper, data: results.extractData() } as Initial).replaceAll('<', '\\u003c')
  const parts: Record<string, string> = {
    language: `lang="${textsLanguage(shopper.language)}"`,
    head, body: body.slice(head.length), initial
  }
  return { ...page, html: template.replace(/<!--(\w+)-->|data-(language)/g, (all, name, attribute) => parts[name ?? attribute] ?? all) }
}
