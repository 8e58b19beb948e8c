// What code generators make of the operations, in a folder of its own that is
// thrown away. They are the commands that a front end's build would run.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))

// folder makes a folder with the schema in it, in which node_modules is found.
export function folder() {
  const path = mkdtempSync(join(here, 'made-'))
  process.on('exit', () => rmSync(path, { recursive: true, force: true }))
  const write = (file, text) => writeFileSync(join(path, file), text)
  write('schema.graphql', readFileSync(join(here, '../../schema.graphqls')))
  return { path, write, run: (command, ...args) => run(path, command, args) }
}

// run runs a command of a package, and fails with what it printed.
function run(cwd, command, args) {
  try {
    execFileSync(join(here, 'node_modules', '.bin', command), args, { cwd, encoding: 'utf8', stdio: 'pipe' })
  } catch (failed) {
    throw new Error(`${command} ${args.join(' ')}\n${failed.stdout}${failed.stderr}`)
  }
}
