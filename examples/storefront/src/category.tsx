// A category. Filters and order are in the URL, so that they can be bookmarked, shared
// and reached with the back button.
import { Link, useSearchParams } from 'react-router'
import { useQuery } from 'urql'
import { CardOf, Cards } from './card'
import { choicesOf, Facets, FacetsOf } from './facets'
import { graphql, type VariablesOf } from './graphql'
import { Head } from './head'
import { categoryPath } from './path'
import { Sheets } from './sheets'
import { useTexts, type Texts } from './texts'
import { Missing, Trouble, WaitingPage } from './trouble'

const Category = graphql(`
  query Category($path: String!, $first: Int!, $offset: Int!, $filter: ProductFilter, $facets: FacetState, $orderBy: ProductOrder) {
    catalogNode(by: {path: $path}) {
      id
      name
      slug
      description
      locale
      seo { title description }
      breadcrumbs { uuid name slug }
      children(first: 30) { nodes { id name slug } }
      products(includeDescendants: true, variants: PARENTS, first: $first, offset: $offset, filter: $filter, facets: $facets, orderBy: $orderBy) {
        totalCount
        nodes { id ...CardOf }
        facets { ...FacetsOf }
      }
    }
  }
`, [CardOf, FacetsOf])

const length = 9 // products of a sheet

type Order = NonNullable<VariablesOf<typeof Category>['orderBy']>

const orders: Record<string, { name: (texts: Texts) => string; order: Order | null }> = {
  '': { name: texts => texts.recommended, order: null },
  name: { name: texts => texts.byName, order: { field: 'NAME', direction: 'ASC' } },
  cheap: { name: texts => texts.cheapest, order: { field: 'PRICE', direction: 'ASC' } },
  dear: { name: texts => texts.dearest, order: { field: 'PRICE', direction: 'DESC' } },
  latest: { name: texts => texts.latest, order: { field: 'UPDATED_AT', direction: 'DESC' } }
}

export function CategoryPage({ path }: { path: string }) {
  const texts = useTexts()
  const [chosen, choose] = useSearchParams()
  const choices = choicesOf(chosen)
  const sort = chosen.get('sort') ?? ''
  const at = Math.min(Math.max(Math.trunc(Number(chosen.get('page'))) || 1, 1), 1000)
  const [{ data, error, fetching }, ask] = useQuery({
    query: Category,
    variables: { path, first: length, offset: (at - 1) * length, ...choices, orderBy: orders[sort]?.order ?? null }
  })

  // Another filter or order begins at the first page.
  const another = (changes: Record<string, string>) => {
    const next = new URLSearchParams(chosen)
    next.delete('page')
    for (const [name, value] of Object.entries(changes)) value ? next.set(name, value) : next.delete(name)
    return next
  }

  if (error && !data?.catalogNode) return <Trouble error={error} again={ask} />
  const node = data?.catalogNode
  if (!node) return fetching ? <WaitingPage /> : <Missing />
  const { totalCount, nodes, facets } = node.products
  const sheets = Math.ceil(totalCount / length)
  const ancestors = [...node.breadcrumbs, node]
  return <>
    <Head {...node.seo} path={categoryPath(node.breadcrumbs, node) + (at > 1 ? `?page=${at}` : '')} />
    <nav className="crumbs" aria-label={texts.breadcrumbs} lang={node.locale}>
      {node.breadcrumbs.map((step, i) => <Link key={step.uuid} to={categoryPath(node.breadcrumbs.slice(0, i), step)}>{step.name}</Link>)}
      <span aria-current="page">{node.name}</span>
    </nav>
    <div lang={node.locale}><h1 dir="auto">{node.name}</h1>{node.description !== node.name && <p className="muted" dir="auto">{node.description}</p>}</div>
    {node.children.nodes.length > 0 && <nav className="chips" aria-label={texts.within(node.name)} lang={node.locale}>
      {node.children.nodes.map(child => <Link key={child.id} className="chip" to={categoryPath(ancestors, child)}>{child.name}</Link>)}
    </nav>}
    <div className="listing">
      <Facets of={facets} chosen={choices} choose={changes => choose(another(changes), { preventScrollReset: true })} />
      <div>
        <div className="tools">
          <p className="muted" role="status">{texts.productCount(totalCount)}{sheets > 1 && `, ${texts.pageOf(at, sheets)}`}</p>
          <label className="sort">{texts.sortBy} <select value={sort} onChange={({ target }) => choose(another({ sort: target.value }), { preventScrollReset: true })}>
            {Object.entries(orders).map(([key, { name }]) => <option key={key} value={key}>{name(texts)}</option>)}
          </select></label>
        </div>
        {totalCount ? <Cards products={nodes} busy={fetching} top level="h2" /> : <p>{texts.noMatches}</p>}
        <Sheets at={at} count={sheets} to={sheet => `?${another({ page: String(sheet) })}`} />
      </div>
    </div>
  </>
}
