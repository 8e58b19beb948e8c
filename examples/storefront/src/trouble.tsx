import type { CombinedError } from 'urql'
import { Head } from './head'
import { Ways } from './menu'
import { useStatus } from './page'
import { useTexts, type Texts } from './texts'

// words returns a message for shoppers, by error code.
function words(texts: Texts, error: CombinedError) {
  switch (error.graphQLErrors[0]?.extensions.code) {
    case 'RATE_LIMITED': return texts.rateLimited
    case 'NOT_FOUND': return texts.notFound
    case 'UNAVAILABLE': return texts.unreachable
  }
  return error.networkError ? texts.unreachable : texts.failed
}

/** Trouble says that a query failed. The server's log has the cause, and so has the network log of the browser. */
export function Trouble({ error, again }: { error: CombinedError; again?: () => void }) {
  const texts = useTexts()
  useStatus(503)
  if (import.meta.env.SSR) console.error(error.message)
  return <div className="trouble" role="alert">
    <p>{words(texts, error)}</p>
    {again && <button type="button" onClick={again}>{texts.tryAgain}</button>}
  </div>
}

export function Missing() {
  const texts = useTexts()
  useStatus(404)
  return <section className="narrow">
    <Head title={texts.notFound} />
    <h1>{texts.notFound}</h1>
    <p className="lead">{texts.missing}</p>
    <Ways />
  </section>
}

/** Waiting is a placeholder of a part of a page. Screen readers announce it once, if loading takes long. */
export const Waiting = () => <div className="waiting" role="status"><span>{useTexts().loading}</span></div>

/** WaitingPage is a placeholder of a whole page, with a title and a heading. */
export function WaitingPage() {
  const { loading } = useTexts()
  return <div className="waiting" role="status">
    <Head title={loading} />
    <h1>{loading}</h1>
  </div>
}
