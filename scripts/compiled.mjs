// Keeps in dist/bin/compiled what V8 makes of the chunks of the commands, for scripts/load-chunk.cjs. Only the version
// of V8 that compiled a chunk takes it, on the same platform and architecture. So it serves checkouts, where the
// commands are built and run by the same Node; package.json leaves it out of the package.
//
// V8 compiles a function when it is called first. So this runs the commands on small traces, all in one process, and
// then asks V8 for what it compiled.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

/**
 * The command lines that are run. Commands that write files, start programs or need optional packages are left out.
 * Each line is an array: the command, then its arguments.
 */
const LINES = [
  ['hf-filter', '--version'],
  ['hf-stats', '--help'],
  ['heapflow', '--help'],
  ...formats.flatMap(linesOfDecoder),
  ...formats.flatMap(linesOfEncoder),
  ...[
    'hf-filter --kind alloc',
    'hf-filter --size 4K.. --thread 1',
    'hf-map --drop thread',
    'hf-sort',
    'hf-verify',
    'hf-stats',
    'hf-stats --json',
    'hf-blocks',
    'hf-profile --to collapsed',
    'hf-profile --to pprof',
    'hf-report',
    'hf-convert --to hatf',
  ].map((line) => [...line.split(' '), trace]),
]

/** Each golden trace of a format is decoded to NDJSON and to Arrow. */
function linesOfDecoder(format) {
  const folder = join(golden, format)
  const names = readdirSync(folder).filter((name) => !name.endsWith('.ndjson'))
  return names.flatMap((name) => [
    [`${format}-decode`, join(folder, name)],
    [`${format}-decode`, '-u', join(folder, name)],
  ])
}

function linesOfEncoder(format) {
  const command = `${format}-encode`
  return commands.has(command) ? [[command, trace]] : []
}

if (process.argv[2] === 'here') {
  await keepCompiled()
} else {
  // What the commands print is of interest only if they fail, so they run in another process.
  const { status, stderr } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), 'here'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  if (status !== 0) throw new Error(`the commands cannot be compiled: ${stderr}`)
}

/** Runs the commands, and writes what was compiled then. */
async function keepCompiled() {
  const require = createRequire(import.meta.url)
  const loader = join(bin, 'chunks/load.js')
  const { COMPILED, fileOf, wrapped, compile, run } = require(loader)
  // V8 notes the flags of this process: those of any input, though these are small.
  delete globalThis[Symbol.for('heapflow.expectLittle')]
  delete globalThis[Symbol.for('heapflow.awaitCompilers')]

  /** By the names of chunks: the chunk's text and its script, and what it exports. */
  const compiled = new Map()
  const exportsOf = new Map()
  /** The end of the command that runs. */
  let running

  /** Takes the place of `load` in chunks/load.js, and keeps the scripts. */
  function load(name) {
    if (exportsOf.has(name)) return exportsOf.get(name)
    const text = wrapped(readFileSync(fileOf(name)))
    const script = compile(fileOf(name), text)
    const exported = withEnd(run(script, fileOf(name), load))
    compiled.set(name, { text, script })
    exportsOf.set(name, exported)
    return exported
  }

  /** If a chunk exports `start`, which runs a command without awaiting it, the result is kept in `running`. */
  function withEnd(exported) {
    const { start } = exported
    return start === undefined ? exported : { ...exported, start: (...args) => (running = start(...args)) }
  }

  // V8 would discard functions that have not been called for some time. It takes what was compiled only if it has the
  // same flags, so this one is reset below.
  setFlagsFromString('--no-flush-bytecode')
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
  for (const [name, { text, script }] of compiled) {
    const code = script.createCachedData()
    // Twice, and with the text, so that damage and changes are noticed: see scripts/load-chunk.cjs.
    writeFileSync(join(COMPILED, `${name}.bin`), Buffer.concat([code, code, text]))
  }
}
