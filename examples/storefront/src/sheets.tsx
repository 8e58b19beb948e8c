import { Link } from 'react-router'
import { useTexts } from './texts'

// near returns the pages to link: the first, the last and those around at. 0 stands for those left out.
function near(at: number, count: number): number[] {
  const shown = Array.from({ length: count }, (_, i) => i + 1).filter(sheet => sheet === 1 || sheet === count || Math.abs(sheet - at) <= 1)
  return shown.flatMap((sheet, i) => i && sheet - shown[i - 1]! > 1 ? [0, sheet] : [sheet])
}

/** Sheets links the pages of a list by number, from 1. to returns the URL of a page. */
export function Sheets({ at, count, to }: { at: number; count: number; to: (sheet: number) => string }) {
  const texts = useTexts()
  if (count < 2) return null
  return <nav className="sheets" aria-label={texts.pages}>
    {at > 1 && <Link to={to(at - 1)} rel="prev">{texts.previous}</Link>}
    {near(at, count).map((sheet, i) => sheet ? <Link key={sheet} to={to(sheet)}
      aria-label={texts.page(sheet)} aria-current={sheet === at ? 'page' : undefined}>{sheet}</Link> : <span key={-i} aria-hidden="true">…</span>)}
    {at < count && <Link to={to(at + 1)} rel="next">{texts.next}</Link>}
  </nav>
}
