// Keeps in dist/bin/compiled what V8 makes of the chunks of the commands, for scripts/load-chunk.cjs. V8 compiles a
// function when it is called first, so this runs the commands on small traces, all in one process. Only the version of
// V8 that compiled a chunk takes it.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

const root = fileURLToPath(new URL('../', import.meta.url))
const bin = join(root, 'dist/bin')
const golden = join(root, 'test/golden')
const trace = join(root, 'test/fixtures/mtrc/cxx64.mtrc')

const commands = new Set(readdirSync(bin).map((name) => basename(name, '.js')))
const formats = readdirSync(golden).filter((name) => commands.has(`${name}-decode`))

/** What is run. Commands that write files, start programs or need optional packages are left out. */
const LINES = [
  ['hf-filter', '--version'], ['hf-stats', '--help'], ['heapflow', '--help'],
  ...formats.flatMap((format) => tracesOf(format).flatMap((file) => [[`${format}-decode`, file], [`${format}-decode`, '-u', file]])),
  ...formats.map((format) => `${format}-encode`).filter((name) => commands.has(name)).map((name) => [name, trace]),
  ...[
    'hf-filter --kind alloc', 'hf-filter --size 4K.. --thread 1', 'hf-map --drop thread', 'hf-sort', 'hf-verify', 'hf-stats', 'hf-stats --json',
    'hf-blocks', 'hf-profile --to collapsed', 'hf-profile --to pprof', 'hf-report', 'hf-convert --to hatf',
  ].map((line) => [...line.split(' '), trace]),
]

function tracesOf(format) {
  return readdirSync(join(golden, format)).filter((name) => !name.endsWith('.ndjson')).map((name) => join(golden, format, name))
}

if (process.argv[2] === 'here') await runAll()
else {
  // What the commands print is of interest only if they fail.
  const { status, stderr } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), 'here'], { stdio: ['ignore', 'ignore', 'pipe'] })
  if (status !== 0) throw new Error(`the commands cannot be compiled: ${stderr}`)
}

/** Runs the commands, and keeps what is compiled then. */
async function runAll() {
  // V8 takes what was compiled only if it has the same flags, so this one is reset below.
  setFlagsFromString('--no-flush-bytecode')
  const require = createRequire(import.meta.url)
  const loader = join(bin, 'chunks/load.js')
  const { COMPILED, fileOf, compile, run } = require(loader)
  const scripts = new Map()
  const chunks = new Map()
  let running
  const load = (name) => {
    if (chunks.has(name)) return chunks.get(name)
    const script = compile(fileOf(name))
    const exported = run(script, fileOf(name), load)
    const { start } = exported
    const chunk = start === undefined ? exported : { ...exported, start: (...args) => (running = start(...args)) }
    scripts.set(name, script)
    chunks.set(name, chunk)
    return chunk
  }
  require.cache[loader].exports = load
  const folder = mkdtempSync(join(tmpdir(), 'heapflow-'))
  try {
    process.chdir(folder)
    for (const [command, ...args] of LINES) {
      const file = join(bin, `${command}.js`)
      delete require.cache[file]
      process.argv = [process.execPath, file, ...args]
      require(file)
      await running
      if (process.exitCode) throw new Error(`failed: ${[command, ...args].join(' ')}`)
    }
  } finally {
    process.chdir(root)
    rmSync(folder, { recursive: true })
  }
  setFlagsFromString('--flush-bytecode')
  rmSync(dirname(COMPILED), { recursive: true, force: true })
  mkdirSync(COMPILED, { recursive: true })
  for (const [name, script] of scripts) writeFileSync(join(COMPILED, `${name}.bin`), script.createCachedData())
}
