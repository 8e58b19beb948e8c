import { Link } from 'react-router'
import { useQuery } from 'urql'
import { CardOf, Cards } from './card'
import { graphql } from './graphql'
import { Head } from './head'
import { categoryPath } from './path'
import { useTexts } from './texts'
import { Trouble, WaitingPage } from './trouble'

const Home = graphql(`
  query Home {
    hierarchies(first: 1) {
      nodes {
        id
        name
        slug
        description
        locale
        children(first: 8) {
          nodes { id name slug description products(includeDescendants: true, variants: PARENTS, first: 4) { nodes { id ...CardOf } } }
        }
      }
    }
    fresh: products(variants: PARENTS, filter: { tags: { eq: "new" } }, orderBy: { field: NAME }, first: 4) { nodes { id ...CardOf } }
  }
`, [CardOf])

export function HomePage() {
  const texts = useTexts()
  const [{ data, error }, ask] = useQuery({ query: Home })
  const shop = data?.hierarchies?.nodes[0]
  if (error && !shop) return <Trouble error={error} again={ask} />
  if (!shop) return <WaitingPage />
  return <>
    <Head title={shop.name} description={shop.description} path="/" />
    <section className="hero" lang={shop.locale}>
      <h1 dir="auto">{shop.name}</h1>
      <p className="lead" dir="auto">{shop.description}</p>
    </section>
    <section aria-labelledby="categories">
      <h2 id="categories">{texts.categories}</h2>
      <ul className="tiles" lang={shop.locale}>
        {shop.children.nodes.map(node => <li key={node.id} className="tile" dir="auto">
          <Link to={categoryPath([shop], node)}>{node.name}</Link>
          {node.description !== node.name && <p className="muted" dir="auto">{node.description}</p>}
        </li>)}
      </ul>
    </section>
    {data?.fresh?.nodes.length ? <section aria-labelledby="new"><h2 id="new">{texts.newProducts}</h2><Cards products={data.fresh.nodes} /></section> : null}
    {shop.children.nodes.filter(node => node.products.nodes.length).map(node => <section key={node.id} aria-labelledby={node.id}>
      <h2 id={node.id}>{texts.favorites(node.name)}</h2>
      <Cards products={node.products.nodes} />
    </section>)}
  </>
}
