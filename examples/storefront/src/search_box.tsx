// The search field with suggestions: an ARIA combobox. Arrow keys move, Enter opens or
// searches, Escape closes.
import { useEffect, useId, useState, type KeyboardEvent } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { useQuery } from 'urql'
import { FromPrice, FromPriceOf } from './from_price'
import { graphql, type FragmentOf } from './graphql'
import { categoryPath, ProductPath, productPath } from './path'
import { useTexts } from './texts'

const Suggest = graphql(`
  query Suggest($text: String!) {
    searchSuggestions(text: $text, first: 4) {
      completions
      products { id name locale ...ProductPath ...FromPriceOf }
      catalogNodes { id name slug locale breadcrumbs { slug } }
      didYouMean
    }
  }
`, [ProductPath, FromPriceOf])

// By POST, the browser keeps what the service allows other origins. By GET it would ask again for each text.
const byPost = { preferGetMethod: false }

interface Suggestion { to: string; text: string; lang?: string; kind?: string; product?: FragmentOf<typeof FromPriceOf> }

const searchPath = (words: string) => `/search?${new URLSearchParams({ q: words })}`

// useSettled debounces a value.
function useSettled<T>(value: T, milliseconds: number) {
  const [settled, settle] = useState(value)
  useEffect(() => {
    const timer = setTimeout(settle, milliseconds, value)
    return () => clearTimeout(timer)
  }, [value, milliseconds])
  return settled
}

// useSuggestions returns the suggestions for a text, and whether they are for all of it. While it is typed, those for its
// beginning stay, and urql cancels the requests that are out of date.
function useSuggestions(text: string): { found: Suggestion[]; current: boolean } {
  const texts = useTexts()
  const asked = useSettled(text, 150)
  const [{ data, operation, fetching }] = useQuery({ query: Suggest, variables: { text: asked }, pause: asked.length < 2, context: byPost })
  const all = data?.searchSuggestions
  const of = operation?.variables.text ?? ''
  if (!all || text.length < 2 || !(text.startsWith(of) || of.startsWith(text))) return { found: [], current: false }
  return {
    current: of === text && !fetching,
    found: [
      ...all.didYouMean ? [{ to: searchPath(all.didYouMean), text: texts.didYouMean(all.didYouMean) }] : [],
      ...all.completions.map(words => ({ to: searchPath(words), text: words })),
      ...all.catalogNodes.map(node => ({ to: categoryPath(node.breadcrumbs, node), text: node.name, lang: node.locale, kind: texts.category })),
      ...all.products.map(product => ({ to: productPath(product), text: product.name, lang: product.locale, product }))
    ]
  }
}

// useWords is the text of the field: that of a search page, else what is typed.
function useWords() {
  const { pathname, search } = useLocation()
  const of = pathname === '/search' ? new URLSearchParams(search).get('q') ?? '' : ''
  const [typed, type] = useState({ of, words: of })
  if (typed.of !== of) type({ of, words: of }) // another page
  return [typed.words, (words: string) => type({ of, words })] as const
}

export function SearchBox() {
  const id = useId()
  const texts = useTexts()
  const go = useNavigate()
  const [words, setWords] = useWords()
  const [open, setOpen] = useState(false)
  const [at, setAt] = useState(-1)
  const { found, current } = useSuggestions(open ? words.trim() : '')
  const shown = found.length > 0

  const close = () => { setOpen(false); setAt(-1) }
  const leave = (path: string) => {
    close()
    setWords('')
    go(path)
  }

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && shown) {
      event.preventDefault() // the next one empties the field
      close()
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      setOpen(true)
      const step = event.key === 'ArrowDown' ? 1 : -1
      setAt((at + 1 + step + found.length + 1) % (found.length + 1) - 1) // -1 is the field itself
    }
  }

  return <form role="search" className="search" action="/search" onSubmit={event => {
    event.preventDefault()
    const chosen = found[at]
    if (chosen) leave(chosen.to)
    else if (words.trim()) { close(); go(searchPath(words.trim())) }
  }}>
    <input type="search" name="q" placeholder={texts.search} aria-label={texts.searchLabel} autoComplete="off" value={words}
      maxLength={200} role="combobox" aria-expanded={shown} aria-controls={`${id}list`} aria-autocomplete="list"
      aria-activedescendant={found[at] && `${id}${at}`}
      onChange={({ target }) => { setWords(target.value); setOpen(true); setAt(-1) }} onBlur={close} onKeyDown={onKeyDown} />
    <button type="submit">{texts.search}</button>
    <ul id={`${id}list`} role="listbox" aria-label={texts.suggestions} hidden={!shown}>
      {found.map(({ to, text, lang, kind, product }, i) => <li key={i} id={`${id}${i}`} role="option" aria-selected={i === at}
        ref={i === at ? option => option?.scrollIntoView({ block: 'nearest' }) : undefined}
        onMouseDown={event => event.preventDefault()} onClick={() => leave(to)}>
        <span lang={lang} dir="auto">{text}</span> {kind && <span className="muted">{kind}</span>}{product && <FromPrice of={product} />}
      </li>)}
    </ul>
    <p className="hidden" role="status">{open && current && texts.suggestionCount(found.length)}</p>
  </form>
}
