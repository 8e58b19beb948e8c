// A page cannot keep a secret. Its implicit token needs only a client id, and reads only
// catalogs and stock. For a shopper who has logged in, get a token of `shopperTokenCreate`
// from your own back end here.

export const service: string = import.meta.env.VITE_PORTICO_URL

let kept: Promise<string> | undefined
let ends = 0 // of kept, by Date.now()

async function ask(): Promise<string> {
  ends = Infinity // while it is asked for
  try {
    const form = new URLSearchParams({ grant_type: 'implicit', client_id: import.meta.env.VITE_CLIENT_ID })
    const answer = await fetch(`${service}/oauth/access_token`, { method: 'POST', body: form })
    if (!answer.ok) throw new Error(`no token for the client ${import.meta.env.VITE_CLIENT_ID}: ${answer.status}`)
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
