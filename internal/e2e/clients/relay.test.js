import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse, print, visit } from 'graphql'
import relay from 'relay-runtime'
import { folder } from './made.js'
import { environment } from './setup/relay.js'
import { suite, taking } from './suite.js'
import { document, operation, plain, said, token, url } from './shop.js'

const made = folder()

// growing has the paged lists as relay-compiler needs them: as fragments, with the query for the next
// page.
const growing = `
  fragment Shop_products on CatalogNode
  @argumentDefinitions(first: { type: "Int!" }, after: { type: "String" }, filter: { type: "ProductFilter" }, orderBy: { type: "ProductOrder" })
  @refetchable(queryName: "ShopMoreProductsQuery") {
    id
    products(first: $first, after: $after, filter: $filter, orderBy: $orderBy) @connection(key: "Shop_products") {
      ...lists
    }
  }
  fragment Shop_stocks on Query
  @argumentDefinitions(first: { type: "Int!" }, after: { type: "String" })
  @refetchable(queryName: "ShopMoreStocksQuery") {
    stocks(first: $first, after: $after) @connection(key: "Shop_stocks") {
      ...lists
    }
  }
  query ShopGrowingCategoryQuery($id: ID!, $first: Int!, $filter: ProductFilter, $orderBy: ProductOrder) {
    catalogNode(by: {id: $id}) { ...Shop_products @arguments(first: $first, filter: $filter, orderBy: $orderBy) }
  }
  query ShopGrowingStocksQuery($first: Int!) { ...Shop_stocks @arguments(first: $first) }
`
const grown = {
  ShopCategoryQuery: { query: 'ShopGrowingCategoryQuery', fragment: 'Shop_products', list: 'products', holder: data => data.catalogNode, shown: products => ({ catalogNode: { products } }) },
  ShopStocksQuery: { query: 'ShopGrowingStocksQuery', fragment: 'Shop_stocks', list: 'stocks', holder: data => data, shown: stocks => ({ stocks }) }
}

// selected returns what an operation selects of its list.
function selected(name, list) {
  let selections
  visit(operation(name).document, { Field: field => { if (field.name.value === list) selections ??= field.selectionSet.selections } })
  return selections.map(print).join('\n')
}

// unmasked inlines a fragment's fields, so that they are readable without another read of the store.
const card = document.definitions.find(definition => definition.kind === 'FragmentDefinition')
const unmasked = text => print(visit(parse(text), {
  FragmentDefinition: fragment => fragment.name.value === card.name.value ? null : undefined,
  FragmentSpread: spread => spread.name.value === card.name.value ? { ...card, kind: 'InlineFragment', name: undefined } : undefined
}))
const lists = Object.entries(grown).map(([name, { list }]) => selected(name, list))
const documents = taking + print(document) + growing.replaceAll('...lists', () => lists.shift())
made.write('Shop.js', unmasked(documents).split(/\n(?=query|fragment|mutation)/).map(each => `graphql\`${each}\`\n`).join(''))
made.write('package.json', '{ "type": "commonjs" }') // as are the artifacts that it has
made.write('relay.config.json', JSON.stringify({ src: '.', schema: 'schema.graphql', language: 'javascript', artifactDirectory: '__generated__', eagerEsModules: false, noSourceControl: true }))
mkdirSync(join(made.path, '__generated__'))
made.run('relay-compiler')
const require = createRequire(join(made.path, 'Shop.js'))
const artifact = name => require(`./__generated__/${name}.graphql.js`)

suite(() => {
  const shop = environment(url, token)
  const looked = ({ data, isMissingData }) => {
    if (isMissingData) throw new Error('the store has lost members')
    return data
  }
  const kept = (name, variables) => looked(shop.lookup(relay.createOperationDescriptor(artifact(name), variables).fragment))
  const ask = async (name, variables) => {
    shop.retain(relay.createOperationDescriptor(artifact(name), variables))
    await relay.fetchQuery(shop, artifact(name), variables, { networkCacheConfig: { force: true } }).toPromise()
    return kept(name, variables)
  }
  // fragment returns what usePaginationFragment shows.
  const fragment = (name, variables) => {
    const { query, fragment, holder } = grown[name]
    return looked(shop.lookup(relay.getSelector(artifact(fragment), holder(kept(query, variables)))))
  }
  return {
    ask,
    kept,
    // more is loadNext of usePaginationFragment.
    more: async (name, { after, ...variables }) => {
      const { query, fragment: of, list } = grown[name]
      if (!shop.check(relay.createOperationDescriptor(artifact(query), variables)).status.startsWith('available')) await ask(query, variables)
      const { paginationMetadata, paginationRequest } = relay.getPaginationMetadata(artifact(of), of)
      const { identifierInfo } = relay.getRefetchMetadata(artifact(of), of)
      const shown = fragment(name, variables)
      const next = relay.getPaginationVariables('forward', variables.first, shown[list].pageInfo.endCursor, variables, {}, paginationMetadata)
      if (identifierInfo) next[identifierInfo.identifierQueryVariableName] = shown[identifierInfo.identifierField]
      await relay.fetchQuery(shop, paginationRequest, next, { networkCacheConfig: { force: true } }).toPromise()
    },
    grown: async (name, variables) => grown[name].shown(fragment(name, variables)[grown[name].list]),
    mutate: () => new Promise((resolve, reject) => relay.commitMutation(shop, { mutation: artifact('ShopTakeMutation'), variables: {}, onCompleted: resolve, onError: reject }))
  }
})

// Refetches like useRefetchableFragment: by the global id, with other variables.
test('asks a list again in another order, beside the one it shows', async () => {
  const shop = environment(url, token)
  const ask = async (name, variables) => {
    const asked = relay.createOperationDescriptor(artifact(name), variables)
    shop.retain(asked)
    await relay.fetchQuery(shop, artifact(name), variables).toPromise()
    return shop.lookup(asked.fragment).data
  }
  const products = holder => shop.lookup(relay.getSelector(artifact('Shop_products'), holder)).data.products
  const served = async variables => (await said(operation('ShopCategoryQuery').text, variables)).catalogNode
  const first = { id: 'node-coffee', first: 3 }
  const other = { ...first, orderBy: { field: 'PRICE', direction: 'DESC' }, filter: { tags: { eq: 'hot' } } }

  const shown = await ask('ShopGrowingCategoryQuery', first)
  const { id, products: before } = await served(first)
  assert.deepEqual(plain(products(shown.catalogNode), before), before)
  const again = await ask('ShopMoreProductsQuery', { ...other, id })
  const { products: after } = await served(other)
  assert.notDeepEqual(after, before)
  assert.deepEqual(plain(products(again.node), after), after)
  assert.deepEqual(plain(products(shown.catalogNode), before), before)
})
