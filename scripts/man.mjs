// Writes the manual pages of all commands to dist/man, from the same tables as --help. Needs the compiled commands.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { manName, manPage } from '../dist/lib/cli/help/man.js'
import { ALL_COMMANDS, heapflow } from '../dist/lib/cli/heapflow.js'

const folder = new URL('../dist/man/', import.meta.url)
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

/** The commands of `heapflow` refer to it, and `heapflow` to all of them. */
function related(command) {
  return command === heapflow ? ALL_COMMANDS.map(manName) : [manName(heapflow)]
}

mkdirSync(folder, { recursive: true })
const wanted = new Map(
  ALL_COMMANDS.map((command) => [`${manName(command)}.1`, manPage(command, version, related(command))]),
)
for (const name of readdirSync(folder)) if (!wanted.has(name)) rmSync(new URL(name, folder))
for (const [name, text] of wanted) writeFileSync(new URL(name, folder), text)
if (process.argv.includes('--list')) for (const name of wanted.keys()) console.log(fileURLToPath(new URL(name, folder)))
