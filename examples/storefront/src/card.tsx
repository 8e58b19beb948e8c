import { Link } from 'react-router'
import { FromPrice, FromPriceOf } from './from_price'
import { graphql, readFragment, type FragmentOf } from './graphql'
import { ProductPath, productPath } from './path'
import { Picture, PictureOf } from './picture'
import { StockBadge, useStock } from './stock'
import { useTexts } from './texts'

export const CardOf = graphql(`
  fragment CardOf on Product {
    id
    uuid
    name
    description
    locale
    onSale
    mainImage { id ...PictureOf }
    ...ProductPath
    ...FromPriceOf
  }
`, [ProductPath, PictureOf, FromPriceOf])

export type CardData = FragmentOf<typeof CardOf>

const sizes = '(max-width: 40rem) 8rem, (max-width: 64rem) 45vw, 18rem'

/** Cards is a list of products. One subscription reads the stock of all. The first pictures load at once if the list is at the top of the page. */
export function Cards({ products, busy, top, level: Heading = 'h3' }: { products: readonly CardData[]; busy?: boolean; top?: boolean; level?: 'h2' | 'h3' }) {
  const texts = useTexts()
  const known = readFragment(CardOf, products)
  const available = useStock(known.map(({ uuid }) => uuid))
  return <ul className="cards" aria-busy={busy}>
    {known.map((product, i) => <li key={product.id} className="card" data-product={product.uuid}>
      <Picture of={product.mainImage} sizes={sizes} eager={top && i < 3} />
      <div className="words" lang={product.locale}>
        <Heading dir="auto"><Link to={productPath(product)}>{product.name}</Link></Heading>
        <p className="muted clipped" dir="auto">{product.description}</p>
      </div>
      <FromPrice of={product} />
      <p className="badges">
        {product.onSale && <span className="badge" data-level="sale">{texts.sale}</span>}
        <StockBadge available={available[product.uuid]} />
      </p>
    </li>)}
  </ul>
}
