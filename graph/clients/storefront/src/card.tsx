import { Link } from 'react-router'
import { graphql, readFragment, type FragmentOf } from './graphql'
import { ProductPath, productPath } from './path'
import { Picture, PictureOf } from './picture'
import { Price, PriceText } from './price'
import { StockBadge, useStock } from './stock'

export const CardOf = graphql(`
  fragment CardOf on Product {
    id
    uuid
    name
    description
    language
    productTypes
    ...ProductPath
    ...PictureOf
    displayPrice { ...PriceText }
    originalDisplayPrice { ...PriceText }
  }
`, [ProductPath, PictureOf, PriceText])

type CardData = FragmentOf<typeof CardOf>

/** Cards is a list of products. One subscription reads the stock of all. */
export function Cards({ products, busy, level: Heading = 'h3' }: { products: readonly CardData[]; busy?: boolean; level?: 'h2' | 'h3' }) {
  const known = readFragment(CardOf, products)
  const available = useStock(known.map(({ uuid }) => uuid))
  return <ul className="cards" aria-busy={busy}>
    {known.map((product, i) => <li key={product.id} className="card" data-product={product.uuid}>
      <Picture of={product} eager={i < 4} />
      <div className="words" lang={product.language}>
        <Heading><Link to={productPath(product)}>{product.name}</Link></Heading>
        <p className="muted">{product.description}</p>
      </div>
      <div className="facts">
        <Price now={product.displayPrice} before={product.originalDisplayPrice} from={product.productTypes.includes('parent')} />
        {product.originalDisplayPrice && <span className="badge" data-level="sale">Sale</span>}
        <StockBadge available={available[product.uuid]} />
      </div>
    </li>)}
  </ul>
}
