import { Link } from 'react-router'

/** Sheets links the pages of a list by number, from 1. to returns the URL of a page. */
export function Sheets({ at, count, to }: { at: number; count: number; to: (sheet: number) => string }) {
  if (count < 2) return null
  return <nav className="sheets" aria-label="Pages">
    {at > 1 && <Link to={to(at - 1)} rel="prev">Previous</Link>}
    {Array.from({ length: count }, (_, i) => i + 1).map(sheet => <Link key={sheet} to={to(sheet)}
      aria-label={`Page ${sheet}`} aria-current={sheet === at ? 'page' : undefined}>{sheet}</Link>)}
    {at < count && <Link to={to(at + 1)} rel="next">Next</Link>}
  </nav>
}
