// The tests of every client with a cache: it must show exactly the server's data, whichever responses
// its cache was filled from.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operation, operations, plain, said, transact } from './shop.js'

const same = (shown, said, message) => assert.deepEqual(plain(shown, said), said, message)

// follow returns the variables of each page of a list, and the whole list: the first response with the
// edges of all pages.
async function follow({ text }, variables, list) {
  const pages = [variables]
  const whole = await said(text, variables)
  for (let page = list(whole); page.pageInfo.hasNextPage;) {
    pages.push({ ...variables, after: page.pageInfo.endCursor })
    page = list(await said(text, pages.at(-1)))
    list(whole).edges.push(...page.edges)
    const { startCursor, hasPreviousPage } = list(whole).pageInfo
    list(whole).pageInfo = { ...page.pageInfo, startCursor, hasPreviousPage }
  }
  return { pages, whole }
}

// lists are the paged lists.
const lists = [
  { name: 'ShopCategoryQuery', variables: { id: 'node-coffee', first: 3 }, list: data => data.catalogNode.products },
  { name: 'ShopStocksQuery', variables: { first: 4 }, list: data => data.stocks }
]

// taking is a mutation that the client runs.
export const taking = `mutation ShopTakeMutation {
  stockTransact(input: { changes: [{ productId: "prod-espresso", action: INCREMENT, quantity: 1 }, { productId: "prod-cappuccino", action: ALLOCATE, quantity: 1 }] }) {
    transactions { uuid stock { id total available allocated updatedAt } }
    userErrors { field code message }
  }
}`

/**
 * suite tests a client:
 *   make()                          returns a client with an empty cache
 *   client.ask(name, variables)     sends an operation and returns the data shown
 *   client.kept(name, variables)    returns the data from the cache alone; throws if some is missing
 *   client.more(name, variables)    loads the next page of a list; variables have the cursor
 *   client.grown(name, variables)   returns a list with all loaded pages
 *   client.mutate(taking)           runs the mutation
 */
export function suite(make) {
  test('shows what the server said, at once and from the cache', async () => {
    const client = make()
    const asked = operations.flatMap(({ name, text, variables }) => variables.map(variables => ({ name, text, variables })))
    for (const each of asked) {
      each.said = await said(each.text, each.variables)
      same(await client.ask(each.name, each.variables), each.said, each.name)
    }
    for (const each of asked) same(await client.kept(each.name, each.variables), each.said, `${each.name} after all others`)
    for (const each of asked.toReversed()) same(await client.ask(each.name, each.variables), each.said, `${each.name} asked again`)
    for (const each of asked) same(await client.kept(each.name, each.variables), each.said, `${each.name} after all others, in the other order`)
  })

  for (const { name, variables, list } of lists) {
    test(`puts the pages of ${name} together`, async () => {
      const client = make()
      const { pages, whole } = await follow(operation(name), variables, list)
      assert.ok(pages.length > 2)
      assert.equal(list(whole).edges.length, list(whole).totalCount)
      for (const page of pages) await (page.after ? client.more(name, page) : client.ask(name, page))
      same(list(await client.grown(name, variables)), list(whole))
      same((await client.ask('ShopProductQuery', { slug: 'latte' })), await said(operation('ShopProductQuery').text, { slug: 'latte' }))
      same(list(await client.grown(name, variables)), list(whole), 'after another operation')
    })
  }

  test('shows a change of stock wherever that stock is shown', async () => {
    const client = make()
    const showing = [['ShopCategoryQuery', { id: 'node-coffee', first: 10 }], ['ShopStockQuery', { id: 'prod-espresso' }], ['ShopBundleQuery', { id: 'prod-breakfast' }]]
    const asServed = async () => Promise.all(showing.map(([name, variables]) => said(operation(name).text, variables)))
    for (const each of showing) await client.ask(...each)
    const before = await asServed()

    await transact('{ productId: "prod-espresso", action: DECREMENT, quantity: 3 }')
    for (const [i, each] of showing.entries()) same(await client.kept(...each), before[i], 'the cache does not know yet')
    await client.ask('ShopStockQuery', { id: 'prod-espresso' })
    const after = await asServed()
    assert.notDeepEqual(after[0], before[0])
    for (const [i, each] of showing.entries()) same(await client.kept(...each), after[i], `${each[0]} after the stock was asked again`)

    await client.mutate(taking)
    const sold = await asServed()
    for (const [i, each] of showing.entries()) same(await client.kept(...each), sold[i], `${each[0]} after a mutation by this client`)
  })
}
