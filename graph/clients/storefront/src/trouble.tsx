import type { CombinedError } from 'urql'

// Messages for shoppers, by error code.
const advice: Record<string, string> = {
  RATE_LIMITED: 'Too many requests. Please try again in a minute.',
  UNAVAILABLE: 'The shop is not available. Please try again.',
  NOT_FOUND: 'Not found.'
}

function words(error: CombinedError) {
  if (error.networkError) return 'Cannot reach the shop. Is its server running, and does it allow this origin (CORS)?'
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
  <p>This {what} does not exist, or is not for sale.</p>
</section>

/** Waiting is a placeholder. Screen readers announce it once, if loading takes long. */
export const Waiting = () => <div className="waiting" role="status"><span>Loading…</span></div>
