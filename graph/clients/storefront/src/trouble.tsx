import type { CombinedError } from 'urql'

// What a shopper can do about it, by the code that an error carries.
const advice: Record<string, string> = {
  RATE_LIMITED: 'There is a crowd. Please try again in a minute.',
  UNAVAILABLE: 'The shop is not there right now. Please try again.',
  NOT_FOUND: 'This is not in the shop.'
}

function words(error: CombinedError) {
  if (error.networkError) return 'The shop cannot be reached. Is it served, and may pages of this address use it?'
  const [first] = error.graphQLErrors
  return advice[String(first?.extensions.code)] ?? first?.message ?? error.message
}

export const Trouble = ({ error, again }: { error: CombinedError; again?: () => void }) => (
  <div className="trouble" role="alert">
    <p>{words(error)}</p>
    {again && <button type="button" onClick={again}>Try again</button>}
  </div>
)

export const Missing = ({ what }: { what: string }) => <section className="narrow">
  <title>Not found</title>
  <h1>Not found</h1>
  <p>There is no such {what} in this shop, or it is not for sale right now.</p>
</section>

/** Waiting stands where something will be; it is told once, and only if it takes long. */
export const Waiting = () => <div className="waiting" role="status"><span>Loading…</span></div>
