// node calls.js openapi.yaml [output folder]
//
// Compiles a call of every operation of openapi.yaml under strict TypeScript, with clients from two
// generators. Parameters and bodies are the examples of the document, and each call reads the response.
// New operations are covered without changes here. The script prints operations that cannot be called.
'use strict'

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const yaml = require('yaml')

const methods = ['get', 'post', 'put', 'delete']
const [source, given] = process.argv.slice(2)
const folder = given ?? fs.mkdtempSync(path.join(os.tmpdir(), 'openapi-calls-'))
const document = yaml.parse(fs.readFileSync(source, 'utf8'))

const follow = part => part?.$ref ? follow(part.$ref.slice(2).split('/').reduce((at, key) => at[key], document)) : part

function operations() {
  const list = []
  for (const [address, item] of Object.entries(document.paths)) {
    for (const method of methods) {
      if (!item[method]) continue
      const operation = item[method]
      const call = { address, method, id: operation.operationId, parameters: {}, body: undefined, type: undefined }
      for (const reference of [...(item.parameters ?? []), ...(operation.parameters ?? [])]) {
        const parameter = follow(reference)
        call.parameters[parameter.in] ??= {}
        call.parameters[parameter.in][parameter.name] = example(parameter, `${call.id}: ${parameter.name}`)
      }
      if (operation.requestBody) {
        const [type, content] = Object.entries(follow(operation.requestBody).content)[0]
        call.type = type
        call.body = content.example ?? example(content, `${call.id}: the body`)
      }
      const good = Object.entries(operation.responses).find(([status]) => status < 300)
      call.answers = Boolean(follow(good?.[1])?.content)
      list.push(call)
    }
  }
  return list
}

// example returns a valid value of a parameter.
function example(described, what) {
  if (described.example !== undefined) return described.example
  const schema = follow(described.schema)
  if (schema?.example !== undefined) return schema.example
  if (schema?.enum) return schema.enum[0]
  if (schema?.type === 'string') return 'text'
  if (schema?.type === 'integer') return schema.minimum ?? 1
  if (schema?.type === 'boolean') return true
  throw new Error(`${what} has no example, and none can be made of its schema`)
}

const json = value => JSON.stringify(value)

// withFetch returns calls by path, for the types of openapi-typescript.
function withFetch(calls) {
  const lines = calls.map(c => {
    const options = []
    if (Object.keys(c.parameters).length > 0) options.push(`params: ${json(c.parameters)}`)
    if (c.body !== undefined) options.push(`body: ${json(c.body)}`)
    const read = c.answers ? 'const held: object = data; void held' : 'void data'
    return `export async function ${c.id}() {
  const { data, error, response } = await client.${c.method.toUpperCase()}(${json(c.address)}, { ${options.join(', ')} })
  if (data !== undefined) { ${read} }
  if (error !== undefined) { const told: object = error; void told }
  return response.status
}`
  })
  return ["import createClient from 'openapi-fetch'", "import type { paths } from './schema'", '',
    "const client = createClient<paths>({ baseUrl: 'http://127.0.0.1' })", ...lines, ''].join('\n')
}

// withSDK returns calls by function, for the client of @hey-api/openapi-ts.
function withSDK(calls) {
  const names = c => c.id[0].toLowerCase() + c.id.slice(1)
  const parts = { path: 'path', query: 'query', header: 'headers' }
  const lines = calls.map(c => {
    const options = Object.entries(c.parameters).map(([where, values]) => `${parts[where]}: ${json(values)}`)
    if (c.body !== undefined) options.push(`body: ${json(c.body)}`)
    return `export async function call${c.id}() {
  const { data, error } = await sdk.${names(c)}({ client, ${options.join(', ')} })
  return data ?? error
}`
  })
  return ["import { createClient } from './sdk/client'", "import * as sdk from './sdk'", '',
    "const client = createClient({ baseUrl: 'http://127.0.0.1' })", ...lines, ''].join('\n')
}

const calls = operations()
const tool = (name, ...args) => execFileSync(path.join(__dirname, 'node_modules', '.bin', name), args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, CI: 'true' } })
const run = (name, ...args) => {
  try {
    return tool(name, ...args)
  } catch (error) {
    process.stderr.write(`${name}: ${error.message}\n${error.stdout ?? ''}${error.stderr ?? ''}`)
    process.exit(1)
  }
}
fs.mkdirSync(folder, { recursive: true })
fs.rmSync(path.join(folder, 'node_modules'), { force: true })
fs.symlinkSync(path.join(__dirname, 'node_modules'), path.join(folder, 'node_modules'))
const contract = path.resolve(source)
run('openapi-typescript', contract, '--output', 'schema.d.ts')
run('openapi-ts', '--input', contract, '--output', 'sdk', '--client', '@hey-api/client-fetch', '--silent')
fs.writeFileSync(path.join(folder, 'fetch.ts'), withFetch(calls))
fs.writeFileSync(path.join(folder, 'calls.ts'), withSDK(calls))
fs.writeFileSync(path.join(folder, 'tsconfig.json'), json({
  compilerOptions: {
    strict: true, noEmit: true, exactOptionalPropertyTypes: false, noUncheckedIndexedAccess: true, skipLibCheck: false,
    target: 'es2022', module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom', 'dom.iterable'], types: []
  },
  include: ['*.ts', 'sdk/**/*.ts']
}))
run('tsc', '--project', 'tsconfig.json')
console.log(`${calls.length} operations compile with both clients`)
for (const call of calls) console.log(call.method.toUpperCase(), call.address)
if (!given) fs.rmSync(folder, { recursive: true })
