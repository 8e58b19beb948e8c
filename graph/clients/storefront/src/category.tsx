// A category. Filters and order are in the URL, so that they can be bookmarked, shared
// and reached with the back button.
import { Link, useParams, useSearchParams } from 'react-router'
import { useQuery } from 'urql'
import { CardOf, Cards } from './card'
import { Facets, TagFacets } from './facets'
import { graphql, type VariablesOf } from './graphql'
import { categoryPath } from './path'
import { Sheets } from './sheets'
import { Missing, Trouble, Waiting } from './trouble'

const Category = graphql(`
  query Category($slug: String!, $first: Int!, $offset: Int!, $filter: ProductFilter, $orderBy: ProductOrder) {
    catalogNodes(filter: { slug: { eq: $slug } }, first: 1) {
      nodes {
        id
        name
        slug
        description
        language
        breadcrumbs { uuid name slug }
        children(first: 20) { nodes { id name slug } }
        products(first: $first, offset: $offset, filter: $filter, orderBy: $orderBy) {
          totalCount
          nodes { id ...CardOf }
          facets { ...TagFacets }
        }
      }
    }
  }
`, [CardOf, TagFacets])

const length = 6 // products of a sheet

type Order = NonNullable<VariablesOf<typeof Category>['orderBy']>

const orders: Record<string, { name: string; order: Order | null }> = {
  '': { name: 'Recommended', order: null },
  name: { name: 'Name', order: { field: 'NAME', direction: 'ASC' } },
  cheap: { name: 'Price, low to high', order: { field: 'PRICE', direction: 'ASC' } },
  dear: { name: 'Price, high to low', order: { field: 'PRICE', direction: 'DESC' } },
  latest: { name: 'Latest', order: { field: 'UPDATED_AT', direction: 'DESC' } }
}

export function CategoryPage() {
  const { slug = '' } = useParams()
  const [chosen, choose] = useSearchParams()
  const tags = chosen.get('tags')?.split(',').filter(Boolean) ?? []
  const sort = chosen.get('sort') ?? ''
  const at = Math.min(Math.max(Number(chosen.get('page')) || 1, 1), 1000)
  const [{ data, error, fetching }, ask] = useQuery({
    query: Category,
    variables: {
      slug, first: length, offset: (at - 1) * length,
      filter: tags.length ? { tags: { in: tags } } : null,
      orderBy: orders[sort]?.order ?? null
    }
  })

  // another filter or order begins at the first page
  const another = (changes: Record<string, string>) => {
    const next = new URLSearchParams(chosen)
    next.delete('page')
    for (const [name, value] of Object.entries(changes)) value ? next.set(name, value) : next.delete(name)
    return next
  }

  if (error && !data) return <Trouble error={error} again={ask} />
  const node = data?.catalogNodes?.nodes.find(node => node.slug === slug) // while another is asked for, data is the last one's
  if (!node) return fetching ? <Waiting /> : <Missing what="category" />
  const { totalCount, nodes, facets } = node.products
  const sheets = Math.ceil(totalCount / length)
  return <>
    <title>{node.name}</title>
    <nav className="crumbs" aria-label="Breadcrumbs">
      {node.breadcrumbs.map(({ uuid, name, slug }, i) => <Link key={uuid} to={i ? categoryPath({ slug }) : '/'}>{name}</Link>)}
      <span aria-current="page">{node.name}</span>
    </nav>
    <div className="intro" lang={node.language}><h1>{node.name}</h1><p className="muted">{node.description}</p></div>
    {node.children.nodes.length > 0 && <nav className="chips" aria-label={`Within ${node.name}`}>
      {node.children.nodes.map(child => <Link key={child.id} className="chip" to={categoryPath(child)}>{child.name}</Link>)}
    </nav>}
    <div className="tools">
      <Facets of={facets} choose={tags => choose(another({ tags: tags.join() }))} />
      <label className="sort">Sort by <select value={sort} onChange={({ target }) => choose(another({ sort: target.value }))}>
        {Object.entries(orders).map(([key, { name }]) => <option key={key} value={key}>{name}</option>)}
      </select></label>
    </div>
    <p className="muted" role="status">
      {totalCount === 1 ? '1 product' : `${totalCount} products`}{sheets > 1 && `, page ${at} of ${sheets}`}
    </p>
    <Cards products={nodes} busy={fetching} level="h2" />
    <Sheets at={at} count={sheets} to={sheet => `?${another({ page: String(sheet) })}`} />
  </>
}
