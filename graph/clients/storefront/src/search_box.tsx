// The search field with suggestions: an ARIA combobox. Arrow keys move, Enter opens or
// searches, Escape closes.
import { useEffect, useId, useState, type KeyboardEvent } from 'react'
import { useNavigate } from 'react-router'
import { useQuery } from 'urql'
import { FromPrice, FromPriceOf } from './from_price'
import { graphql } from './graphql'
import { ProductPath, productPath } from './path'
import { useTexts } from './texts'

// includeChildren finds variants too, and separates this list from the search page's in the
// cache.
const Suggest = graphql(`
  query Suggest($words: String!) {
    products(filter: { search: $words }, includeChildren: true, orderBy: { field: RELEVANCE }, first: 6) {
      nodes { id name language ...ProductPath ...FromPriceOf }
    }
  }
`, [ProductPath, FromPriceOf])

// useSettled debounces a value.
function useSettled<T>(value: T, milliseconds: number) {
  const [settled, settle] = useState(value)
  useEffect(() => {
    const timer = setTimeout(settle, milliseconds, value)
    return () => clearTimeout(timer)
  }, [value, milliseconds])
  return settled
}

export function SearchBox() {
  const id = useId()
  const texts = useTexts()
  const go = useNavigate()
  const [words, setWords] = useState('')
  const [open, setOpen] = useState(false)
  const [at, setAt] = useState(-1)
  const asked = useSettled(words.trim(), 150)
  const [{ data, fetching }] = useQuery({ query: Suggest, variables: { words: asked }, pause: asked.length < 2 })
  const current = asked === words.trim() && asked.length > 1 && !fetching
  const found = current ? data?.products?.nodes ?? [] : []
  const shown = open && found.length > 0

  const leave = (path: string, kept = '') => {
    setWords(kept)
    setOpen(false)
    setAt(-1)
    go(path)
  }

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') setOpen(false)
    if (!shown || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return
    event.preventDefault()
    const step = event.key === 'ArrowDown' ? 1 : -1
    setAt((at + 1 + step + found.length + 1) % (found.length + 1) - 1) // -1 is the box itself
  }

  return <form role="search" className="search" action="/search" onSubmit={event => {
    event.preventDefault()
    const chosen = shown ? found[at] : undefined
    if (chosen) leave(productPath(chosen))
    else if (words.trim()) leave(`/search?${new URLSearchParams({ q: words.trim() })}`, words)
  }}>
    <input type="search" name="q" placeholder={texts.search} aria-label={texts.searchLabel} autoComplete="off" value={words}
      role="combobox" aria-expanded={shown} aria-controls={`${id}list`} aria-autocomplete="list"
      aria-activedescendant={shown && at >= 0 ? `${id}${at}` : undefined}
      onChange={({ target }) => { setWords(target.value); setOpen(true); setAt(-1) }}
      onFocus={() => setOpen(true)} onBlur={() => setOpen(false)} onKeyDown={onKeyDown} />
    <button type="submit">{texts.search}</button>
    <ul id={`${id}list`} role="listbox" aria-label={texts.suggestions} hidden={!shown}>
      {found.map((product, i) => <li key={product.id} id={`${id}${i}`} role="option" aria-selected={i === at} lang={product.language}
        onMouseDown={event => event.preventDefault()} onClick={() => leave(productPath(product))}>
        <span dir="auto">{product.name}</span><FromPrice of={product} />
      </li>)}
    </ul>
    <p className="hidden" role="status">{open && current && texts.suggestionCount(found.length)}</p>
  </form>
}
