import { Link } from 'react-router'
import { useQuery } from 'urql'
import { CardOf, Cards } from './card'
import { Drawing } from './drawing'
import { graphql } from './graphql'
import { categoryPath } from './path'
import { Trouble, Waiting } from './trouble'

const Home = graphql(`
  query Home {
    hierarchies(first: 1) {
      nodes {
        id
        name
        description
        children(first: 8) { nodes { id name slug description curatedProducts { id ...CardOf } } }
      }
    }
    fresh: products(filter: { tags: { eq: "new" } }, orderBy: { field: NAME }, first: 4) { nodes { id ...CardOf } }
  }
`, [CardOf])

export function HomePage() {
  const [{ data, error }, ask] = useQuery({ query: Home })
  if (error && !data) return <Trouble error={error} again={ask} />
  const shop = data?.hierarchies?.nodes[0]
  if (!shop) return <Waiting />
  return <>
    <title>{shop.name}</title>
    <section className="hero">
      <div>
        <h1>{shop.name}</h1>
        <p className="lead">{shop.description}</p>
      </div>
      <Drawing kind="cappuccino" seed="hero" />
    </section>
    <section aria-labelledby="categories">
      <h2 id="categories">Categories</h2>
      <ul className="tiles">
        {shop.children.nodes.map(node => <li key={node.id} className="tile">
          <Drawing kind={node.slug} seed={node.id} />
          <div><Link to={categoryPath(node)}>{node.name}</Link><p className="muted">{node.description}</p></div>
        </li>)}
      </ul>
    </section>
    {data?.fresh?.nodes.length ? <section aria-labelledby="new"><h2 id="new">New</h2><Cards products={data.fresh.nodes} /></section> : null}
    {shop.children.nodes.filter(node => node.curatedProducts.length).map(node => <section key={node.id} aria-labelledby={node.id}>
      <h2 id={node.id}>{node.name} we like best</h2>
      <Cards products={node.curatedProducts} />
    </section>)}
  </>
}
