// How the back end asks the service.
import type { TadaDocumentNode } from 'gql.tada'
import { print } from 'graphql'

export interface Till {
  url: string // the service's
  clientId: string
  secret: string
}

export type Headers = Record<string, string>

/** ask runs an operation, and throws what the service refuses. */
export async function ask<Data, Variables>(till: Till, document: TadaDocumentNode<Data, Variables>, variables: Variables, headers: Headers): Promise<Data> {
  const answer = await fetch(`${till.url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ query: print(document), variables })
  })
  const { data, errors } = await answer.json()
  if (errors?.length) throw new Error(errors.map((error: { message: string }) => error.message).join(' '))
  return data
}

let held: { token: string; ends: number } | undefined

/** tillToken is the checkout's own: by its secret, which stays on this side. */
export async function tillToken(till: Till): Promise<string> {
  if (!till.clientId) return demoToken(till)
  if (!held || held.ends < Date.now()) {
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: till.clientId, client_secret: till.secret })
    const answer = await fetch(`${till.url}/oauth/access_token`, { method: 'POST', body: form })
    if (!answer.ok) throw new Error(`The service gives the client ${till.clientId} no token: ${answer.status}.`)
    const { access_token: token, expires_in: seconds } = await answer.json()
    held = { token, ends: Date.now() + (seconds - 60) * 1000 }
  }
  return held.token
}

// The demo shows its token to whoever opens it, so that nothing must be set up
// to try this. No other server does.
async function demoToken({ url }: Till): Promise<string> {
  const [, token] = / data-token="([^"]+)"/.exec(await (await fetch(url)).text()) ?? []
  if (!token) throw new Error('Codes need a client with checkout:write and promotions:read: set CHECKOUT_CLIENT_ID and CHECKOUT_CLIENT_SECRET.')
  return token
}
