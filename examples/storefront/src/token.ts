// A page cannot keep a secret. Its implicit token needs only a client id, and reads only
// catalogs and stock. For a shopper who has logged in, get a token of `shopperTokenCreate`
// from your own back end here. Pages rendered on the server share the server's token.
import { config } from './config'

let kept: Promise<string> | undefined
let ends = 0 // of kept, by Date.now()

async function ask(): Promise<string> {
  ends = Infinity // while it is asked for
  try {
    const form = new URLSearchParams({ grant_type: 'implicit', client_id: config.clientId })
    const answer = await fetch(`${config.service}/oauth/access_token`, { method: 'POST', body: form })
    if (!answer.ok) throw new Error(`no token for the client ${config.clientId}: ${answer.status}`)
    const { access_token: token, expires_in: seconds } = await answer.json()
    ends = Date.now() + (seconds - 60) * 1000
    return token
  } catch (error) {
    spent()
    throw error
  }
}

/** token returns a token that is valid for at least another minute. Concurrent calls share it. */
export function token(): Promise<string> {
  if (!kept || ends < Date.now()) kept = ask()
  return kept
}

/** spent discards the token, after the service rejected it. */
export function spent() { ends = 0 }
