// What the frame of every page shows of the shop. The service answers it once a page.
import { Link } from 'react-router'
import { useQuery } from 'urql'
import { graphql } from './graphql'
import { categoryPath } from './path'

const Menu = graphql(`
  query Menu {
    hierarchies(first: 1) { nodes { id name slug locale children(first: 12) { nodes { id name slug } } } }
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
  const { shop } = useMenu()
  return shop ? <ul className="chips" lang={shop.locale}>
    {shop.children.nodes.map(node => <li key={node.id}><Link className="chip" to={categoryPath([shop], node)}>{node.name}</Link></li>)}
  </ul> : null
}
