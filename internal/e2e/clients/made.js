// Runs code generators on the operations in a temporary folder, with the commands that the
// build of a front end runs.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))

// folder creates a temporary folder with the schema, below node_modules.
export function folder() {
  const path = mkdtempSync(join(here, 'made-'))
  process.on('exit', () => rmSync(path, { recursive: true, force: true }))
  const write = (file, text) => writeFileSync(join(path, file), text)
  write('schema.graphql', readFileSync(join(here, '../../../schema.graphqls')))
  return { path, write, run: (command, ...args) => run(path, command, args) }
}

// run runs a command of a package. It throws the output if the command fails.
function run(cwd, command, args) {
  try {
    execFileSync(join(here, 'node_modules', '.bin', command), args, { cwd, encoding: 'utf8', stdio: 'pipe' })
  } catch (failed) {
    throw new Error(`${command} ${args.join(' ')}\n${failed.stdout}${failed.stderr}`)
  }
}
