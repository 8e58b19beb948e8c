// The languages of the shop, for the server: pages are in the best one for the browser.
import { Client, fetchExchange } from '@urql/core'
import { config } from './config'
import { graphql } from './graphql'
import { headersOf } from './shopper'
import { token } from './token'

const Locales = graphql(`query Locales { locales }`)

let kept: Promise<string[]> | undefined
let ends = 0 // of kept, by Date.now()

async function ask(): Promise<string[]> {
  const headers = { ...headersOf({ language: 'en', currency: '' }), Authorization: `Bearer ${await token()}` }
  const client = new Client({ url: `${config.service}/graphql`, fetchOptions: { headers }, exchanges: [fetchExchange] })
  const { data } = await client.query(Locales, {}).toPromise()
  return data?.locales ?? []
}

/** locales returns the catalog's languages, the base language first, at most a minute old. */
function locales(): Promise<string[]> {
  if (!kept || ends < Date.now()) {
    ends = Date.now() + 60_000
    kept = ask().catch(() => { ends = 0; return [] })
  }
  return kept
}

const primary = (tag: string) => tag.split('-')[0]!

/** languageFor returns the language of the catalog that suits the languages of a browser best, which are those of Accept-Language. */
export async function languageFor(accepted: string): Promise<string> {
  const all = await locales()
  const wanted = accepted.split(',').map(part => {
    const [tag = '', weight] = part.trim().split(/\s*;\s*q=/)
    return { tag, weight: Number(weight ?? 1) }
  }).sort((a, b) => b.weight - a.weight)
  for (const { tag } of wanted) {
    const found = all.find(each => each.toLowerCase() === tag.toLowerCase()) ?? all.find(each => primary(each) === primary(tag.toLowerCase()))
    if (found) return found
  }
  return all[0] ?? 'en'
}
