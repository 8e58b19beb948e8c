// graphql-codegen and gql.tada: their output compiles in strict TypeScript with the code of a front end
// (typed/), and sends the same operations.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { print } from 'graphql'
import { GraphQLClient } from 'graphql-request'
import { folder } from './made.js'
import { document, operations, said, token, url } from './shop.js'

const made = folder()
const scalars = { DateTime: 'string', FacetState: 'string', Secret: 'string', JSON: 'unknown' }

made.write('package.json', '{ "type": "module" }')
for (const file of ['codegen.ts', 'tada.ts']) made.write(file, readFileSync(new URL(`typed/${file}`, import.meta.url)))
const [, page] = readFileSync(new URL('../../../docs/frontend.md', import.meta.url), 'utf8').match(/```ts\n(.*?)```/s)
made.write('page.ts', page) // what the documentation shows
made.write('tsconfig.json', JSON.stringify({
  compilerOptions: {
    strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, verbatimModuleSyntax: true, skipLibCheck: true,
    target: 'es2022', module: 'nodenext', types: [], rootDir: '.', outDir: 'out',
    plugins: [{ name: 'gql.tada/ts-plugin', schema: 'schema.graphql', tadaOutputLocation: 'graphql-env.d.ts' }]
  },
  files: ['codegen.ts', 'tada.ts', 'page.ts']
}))

made.write('operations.graphql', print(document))
made.write('codegen.json', JSON.stringify({
  schema: 'schema.graphql',
  documents: ['operations.graphql'],
  generates: { 'generated/': { preset: 'client', presetConfig: { fragmentMasking: false }, config: { strictScalars: true, scalars, enumsAsTypes: true, useTypeImports: true } } }
}))
made.run('graphql-codegen', '--config', 'codegen.json')

// gql.tada reads documents from the code.
const used = ({ definitions }) => definitions.length > 1 ? ', [ShopCard]' : ''
made.write('operations.ts', [
  `import { initGraphQLTada } from 'gql.tada'`,
  `import type { introspection } from './graphql-env.js'`,
  `const graphql = initGraphQLTada<{ introspection: introspection, disableMasking: true, scalars: { DateTime: string, FacetState: string, Secret: string, JSON: unknown } }>()`,
  ...document.definitions.filter(({ kind }) => kind === 'FragmentDefinition').map(fragment => `const ${fragment.name.value} = graphql(\`${print(fragment)}\`)`),
  ...operations.map(({ name, document }) => `export const ${name} = graphql(\`${print(document.definitions[0])}\`${used(document)})`)
].join('\n'))
made.run('gql.tada', 'generate-output')
made.run('tsc', '--project', '.')

const client = new GraphQLClient(`${url}/graphql`, { headers: { Authorization: `Bearer ${token}` } })
for (const maker of ['codegen', 'tada']) {
  test(`${maker}'s documents answer as the operations do`, async () => {
    const { documents } = await import(pathToFileURL(join(made.path, 'out', `${maker}.js`)))
    for (const { name, text, variables } of operations) {
      for (const each of variables) assert.deepEqual(await client.request(documents[name], each), await said(text, each), name)
    }
  })
}

test('the code of docs/frontend.md answers', async () => {
  const { productNames } = await import(pathToFileURL(join(made.path, 'out', 'page.js')))
  assert.equal((await productNames(url, token))[0], 'Flat White')
})
