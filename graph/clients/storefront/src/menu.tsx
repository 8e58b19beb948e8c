// What the frame of every page shows of the shop. The service answers it once a page.
import { Link } from 'react-router'
import { useQuery } from 'urql'
import { graphql } from './graphql'
import { categoryPath } from './path'
import { useTexts } from './texts'

const Menu = graphql(`
  query Menu {
    hierarchies(first: 1) { nodes { id name slug language children(first: 12) { nodes { id name slug } } } }
    locales
    currencies { code default }
  }
`)

/** useMenu returns the shop's hierarchy, languages and currencies. */
export function useMenu() {
  const [{ data }] = useQuery({ query: Menu })
  return { shop: data?.hierarchies?.nodes[0], locales: data?.locales ?? [], currencies: data?.currencies ?? [] }
}

/** Ways links the top categories, where a page has nothing else to show. */
export function Ways() {
  const texts = useTexts()
  const { shop } = useMenu()
  return shop ? <nav className="chips" aria-label={texts.categories} lang={shop.language}>
    {shop.children.nodes.map(node => <Link key={node.id} className="chip" to={categoryPath([shop], node)}>{node.name}</Link>)}
  </nav> : null
}
