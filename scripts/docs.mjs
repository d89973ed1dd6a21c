// Writes the documents that are made from the code: a page for each command, the matrix of what formats carry, the
// table of fields in docs/ndjson.md and its JSON schema, those of budgets, models and what commands write with --json,
// and the programs and manual pages in package.json. With --check it writes nothing and fails if one of them is not
// current; the schemas of outputs, for which commands run, are checked only with --outputs, too. Needs `npm run build`
// before.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { checkSchema } from './docs/check-schema.mjs'
import { commandIndex, commandPage } from './docs/commands.mjs'
import { carriedPage } from './docs/carried.mjs'
import { fieldTable, groupTable } from './docs/fields.mjs'
import { OUTPUTS, outputSchema } from './docs/output-schemas.mjs'
import { lifetimesSchema } from './docs/lifetimes-schema.mjs'
import { modelSchema } from './docs/model-schema.mjs'
import { replaySchema } from './docs/replay-schema.mjs'
import { wireSchema } from './docs/schema.mjs'
import { manName } from '../dist/lib/cli/help/man.js'
import { ALL_COMMANDS } from '../dist/lib/cli/heapflow.js'

const docs = new URL('../docs/', import.meta.url)
const commandsFolder = new URL('commands/', docs)

const withOutputs = !process.argv.includes('--check') || process.argv.includes('--outputs')

/** Every generated file: its path below docs/, and its text. */
function pages() {
  const commands = ALL_COMMANDS
  return new Map([
    ...commands.map((command) => [`commands/${fileName(command)}`, commandPage(command)]),
    ['commands/README.md', commandIndex(commands, fileName)],
    ['carried.md', carriedPage()],
    ['ndjson.md', withTable(withTable(read('ndjson.md'), 'fields', fieldTable()), 'groups', groupTable())],
    ['ndjson.schema.json', wireSchema()],
    ['check.schema.json', checkSchema()],
    ...(withOutputs ? OUTPUTS.map((output) => [`${output.name}.schema.json`, outputSchema(output)]) : []),
    ['model.schema.json', modelSchema()],
    ['lifetimes.schema.json', lifetimesSchema()],
    ['replay.schema.json', replaySchema()],
    ['../package.json', packageJson(commands)],
  ])
}

/** package.json with the programs and manual pages that there are. */
function packageJson(commands) {
  const fields = JSON.parse(read('../package.json'))
  const programs = commands.filter(({ name }) => !name.includes(' '))
  const bin = Object.fromEntries(programs.map(({ name }) => [name, `dist/bin/${name}.js`]))
  const man = commands.map((command) => `dist/man/${manName(command)}.1`)
  return `${JSON.stringify({ ...fields, bin, man }, null, 2)}\n`
}

function fileName({ name }) {
  return `${name.replace(' ', '-')}.md`
}

/** A text with what stands between the marks of this name replaced. */
function withTable(text, name, table) {
  const [begin, end] = [`<!-- ${name}: generated -->\n`, `<!-- /${name} -->\n`]
  const from = text.indexOf(begin) + begin.length
  const to = text.indexOf(end)
  if (from < begin.length || to < from) throw new Error(`the marks of the table "${name}" are missing`)
  return `${text.slice(0, from)}\n${table}\n${text.slice(to)}`
}

function read(path) {
  try {
    return readFileSync(new URL(path, docs), 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return ''
    throw error
  }
}

mkdirSync(commandsFolder, { recursive: true })
const wanted = pages()
const surplus = readdirSync(commandsFolder)
  .map((name) => `commands/${name}`)
  .filter((path) => !wanted.has(path))
const stale = [...wanted].filter(([path, text]) => read(path) !== text).map(([path]) => path)

if (process.argv.includes('--check')) {
  for (const path of stale) console.error(`docs/${path} is not current: npm run docs`)
  for (const path of surplus) console.error(`docs/${path} belongs to no command`)
  if (stale.length + surplus.length > 0) process.exitCode = 1
} else {
  for (const path of stale) writeFileSync(new URL(path, docs), wanted.get(path))
  for (const path of surplus) rmSync(new URL(path, docs))
  console.log(
    `${fileURLToPath(docs)}: ${wanted.size} generated files, ${stale.length} written, ${surplus.length} removed`,
  )
}
