// The server that the Go test started, and the operations of a storefront.
import { readFileSync } from 'node:fs'
import { parse, print, visit } from 'graphql'

const get = name => {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set; run these tests by: go test ./internal/e2e -run TestGraphQLClients`)
  return value
}

export const url = get('PORTICO_TEST_URL')
export const token = get('PORTICO_TEST_TOKEN')

const read = file => readFileSync(new URL(file, import.meta.url), 'utf8')
export const document = parse(read('operations.graphql'))
const variables = JSON.parse(read('operations.json'))

const fragments = document.definitions.filter(definition => definition.kind === 'FragmentDefinition')
const has = (operation, name) => {
  let found = false
  visit(operation, { FragmentSpread: spread => { found ||= spread.name.value === name } })
  return found
}

// operations has all operations: name, text with its fragments, document and variables.
export const operations = document.definitions.filter(definition => definition.kind === 'OperationDefinition').map(operation => {
  const name = operation.name.value
  const definitions = [operation, ...fragments.filter(fragment => has(operation, fragment.name.value))]
  if (!variables[name]) throw new Error(`operations.json has no variables for ${name}`)
  return { name, text: definitions.map(print).join('\n'), document: { kind: 'Document', definitions }, variables: variables[name] }
})

export const operation = name => operations.find(operation => operation.name === name)

// said returns the response of the server, without a client.
export async function said(text, variables) {
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: text, variables })
  })
  const { data, errors } = await answer.json()
  if (errors) throw new Error(JSON.stringify(errors))
  return data
}

// transact changes stock, as another program would.
export const transact = text => said(`mutation { stockTransact(input: { changes: [${text}] }) { userErrors { message } } }`)

// plain returns a client's data as JSON, without the __typename that the client added to the query.
export function plain(shown, said) {
  if (Array.isArray(shown)) return shown.map((each, i) => plain(each, said?.[i]))
  if (shown === null || typeof shown !== 'object') return shown
  const members = Object.entries(shown).filter(([name]) => name !== '__typename' || said?.__typename !== undefined)
  return Object.fromEntries(members.map(([name, value]) => [name, plain(value, said?.[name])]))
}
