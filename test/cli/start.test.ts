import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { ALL_COMMANDS } from '../../lib/cli/heapflow.js'
import { scratch, shell } from '../support/commands.js'

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url))
const BUILTINS = fileURLToPath(new URL('../support/builtins.cjs', import.meta.url))
const PRELOADED = fileURLToPath(new URL('../support/loads.mjs', import.meta.url))
const TRACE = readFileSync(new URL('../golden/mtrc/sources.mtrc', import.meta.url))
const EVENTS = readFileSync(new URL('../golden/mtrc/sources.ndjson', import.meta.url))

/** The part of commands, formats and transforms that is data; and what prints it. */
const DATA = [
  /^bin\/[a-z-]+\.js$/,
  /^lib\/formats\/index\.js$/,
  /^lib\/cli\/(command|command-list|convert-options|defaults|expect-little|flags|heapflow|incomplete|limits|main|parse|say|start|help\/text)\.js$/,
  /^lib\/cli\/commands\/[a-z-]+\.js$/,
  /^lib\/bytes\/units\.js$/,
  /^lib\/text\/(byte-order-mark|last-line)\.js$/,
  /^lib\/event\/(fields|message-text|suggest)\.js$/,
  /^lib\/(formats|metatf)\/[a-z-]+\/(info|options)\.js$/,
  /^lib\/kernel\/layouts\/hatf\.js$/,
  /^lib\/formats\/hatf\/(layout|plan\/layouts|plan\/strategies)\.js$/,
  /^lib\/streams\/(broken-pipe|io\/file-status|io\/temporary-error)\.js$/,
  /^lib\/order\/order-fields\.js$/,
  /^lib\/transforms\/option-values\.js$/,
  /^lib\/transforms\/simulate\/policies\.js$/,
  /^lib\/transforms\/drive\/layout\.js$/,
  /^lib\/generate\/models\/names\.js$/,
  /^lib\/exports\/(profile-formats|targets|c-source\/info|tables\/formats)\.js$/,
  /^lib\/streams\/record\/names\.js$/,
]

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name)
    return true
  } catch {
    return false
  }
}

/** What a command line loads. */
interface Loads {
  /** Modules of the package, as paths below `dist`. */
  readonly own: string[]
  /** Names of packages of others. */
  readonly packages: string[]
  /** How many files these are in, and how many bytes. */
  readonly files: number
  readonly bytes: number
}

async function loads(line: string, input: Uint8Array = EVENTS): Promise<Loads> {
  const file = join(scratch(), 'loads')
  await shell(`export LOADS='${file}' NODE_OPTIONS='--import "${PRELOADED}"'; ${line} > /dev/null`, input)
  const modules = readFileSync(file, 'utf8')
    .split('\n')
    .filter((name) => /^(file:|\/)/.test(name) && !name.includes('/test/support/'))
  const files = [...new Set(modules.map((name) => name.replace('file://', '')))].filter((name) => name.endsWith('.js'))
  const texts = files.map((name) => readFileSync(name, 'utf8'))
  // A bundle has a comment with the name of each module before its code.
  const bundled = texts.flatMap((text) => [...text.matchAll(/^\/\/ ((?:bin|lib|node_modules)\/\S+)\.[jt]s$/gm)])
  const sources = bundled.map(([, name]) => `${name}.js`)
  const ofOthers = [...files, ...sources].filter((name) => name.includes('node_modules/'))
  const distinct = (names: string[]) => [...new Set(names)].toSorted()
  return {
    own: distinct(sources.filter((name) => !name.startsWith('node_modules/'))),
    packages: distinct(ofOthers.map((name) => name.replace(/^.*node_modules\/([^/]+)\/.*$/, '$1'))),
    files: files.length,
    bytes: texts.reduce((sum, { length }) => sum + length, 0),
  }
}

/** The formats whose codecs are loaded. */
function formatsOf(own: readonly string[]): string[] {
  const names = own.map((path) => /^lib\/formats\/([a-z-]+)\/(?:decode|encode)\.js$/.exec(path)?.[1])
  return [...new Set(names.filter((name) => name !== undefined))].toSorted()
}

describe('help and version load nothing but data', () => {
  async function loadsData(line: string): Promise<void> {
    const { own, packages } = await loads(line)
    expect(own).toContainEqual(expect.stringMatching(/^lib\/cli\/commands\//))
    expect(own.filter((path) => !DATA.some((pattern) => pattern.test(path)))).toEqual([])
    expect(packages).toEqual([])
  }

  test.each([
    'mtrc-decode --help',
    'heapflow help stats',
    'heapflow stats --help',
    'heapflow --version',
    'hf-filter --version',
    'hf-sort --no-such-flag',
    'heapflow nothing',
  ])('%s', loadsData)

  test.each(ALL_COMMANDS.map(({ name }) => `${name} --help`))('%s', { tags: ['slow'] }, loadsData)
})

describe('a command loads what its job takes', () => {
  test('one format read, NDJSON written', async () => {
    const { own, packages } = await loads('mtrc-decode', TRACE)
    expect(formatsOf(own)).toEqual(['mtrc', 'ndjson'])
    expect(own).toContain('lib/formats/mtrc/decode.js')
    expect(
      own.filter((path) =>
        /^lib\/(transforms\/(?!option-values|drive\/layout)|compression\/(?!magic)|metatf\/.*(decode|encode|parse)|entry\/)/.test(
          path,
        ),
      ),
    ).toEqual([])
    expect(packages).toEqual([])
    expect(own.filter((path) => /^lib\/streams\/(stage|generator|decode|io\/stdio)\.js$/.test(path))).toEqual([])
  })

  test('with -u, Arrow and not NDJSON is written', async () => {
    const { own } = await loads('mtrc-decode -u', TRACE)
    expect(own).toContain('lib/formats/arrow/encode.js')
    // The header of a trace is JSON in both.
    expect(own.filter((path) => /^lib\/formats\/ndjson\/(?!info|sniff|general|layout)/.test(path))).toEqual([])
  })

  test('the format of the input is found without the codecs of others', async () => {
    const { own } = await loads('hf-filter --kind alloc')
    expect(formatsOf(own)).toEqual(['ndjson'])
  })

  test.each([
    'mtrc-decode',
    'mtrc-decode -u',
    'hf-filter --kind alloc',
    'hf-convert - /dev/null --to hatf',
    'hf-stats',
  ])('in a few files: %s', async (line) => {
    const { files, bytes } = await loads(line, TRACE)
    expect(files).toBeLessThan(27)
    expect(bytes).toBeLessThan(590_000)
  })

  test('what compressed input takes is loaded for it', { tags: ['slow'] }, async () => {
    const plain = await loads('hf-stats')
    const compressed = await loads('hf-stats', gzipSync(EVENTS))
    expect(compressed.own.filter((path) => !plain.own.includes(path))).toEqual(
      ['compressed', 'gunzip-node', 'gunzip', 'gzip-header', 'whole-members'].map(
        (name) => `lib/compression/${name}.js`,
      ),
    )
    // It is tried if it is there, also where it was built for another version of Node.
    expect(compressed.packages.includes('zlib-sync')).toBe(isInstalled('zlib-sync'))
  })
})

describe('what V8 compiled during the build', () => {
  test.each(['hf-stats', 'hf-stats trace.mtrc'])('is taken for every chunk that a command loads: %s', async (line) => {
    const folder = scratch()
    const file = join(folder, 'loaded')
    writeFileSync(join(folder, 'trace.mtrc'), TRACE)
    await shell(`cd '${folder}'; export LOADED='${file}' NODE_OPTIONS='--require "${BUILTINS}"'; ${line}`, TRACE)
    const { chunks } = JSON.parse(readFileSync(file, 'utf8')) as { chunks: Record<string, boolean> }
    expect(Object.keys(chunks).length).toBeGreaterThan(5)
    expect(Object.entries(chunks).filter(([, isTaken]) => !isTaken)).toEqual([])
  })

  test('reads Parquet without a warning', async () => {
    const file = join(scratch(), 'trace.parquet')
    const { code, stderr } = await shell(`parquet-encode -o '${file}' && parquet-decode '${file}'`, EVENTS)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  /** Copies the commands to a folder, where they can be changed. */
  function copied() {
    const folder = scratch()
    for (const part of ['bin', 'kernel']) cpSync(join(DIST, part), join(folder, 'dist', part), { recursive: true })
    const bin = join(folder, 'dist/bin')
    const [version] = readdirSync(join(bin, 'compiled'))
    const chunks = readdirSync(join(bin, 'chunks')).map((name) => join(bin, 'chunks', name))
    const kept = readdirSync(join(bin, 'compiled', version!)).map((name) => join(bin, 'compiled', version!, name))
    const loaded = join(folder, 'loaded')
    const command = `LOADED='${loaded}' "${process.execPath}" --require "${BUILTINS}" "${join(bin, 'mtrc-decode.js')}"`
    /** What a run prints, and how many of its chunks V8 took as they were compiled. */
    async function run(flags = '') {
      const { stdout } = await shell(`${command} ${flags}`, TRACE)
      const found = JSON.parse(readFileSync(loaded, 'utf8')) as { chunks: Record<string, boolean> }
      return { text: stdout.toString(), taken: Object.values(found.chunks).filter(Boolean).length }
    }
    return { bin, chunks, kept, run }
  }

  test('is kept in the folder for caches where the build kept nothing, if that is the own one', async () => {
    const { bin } = copied()
    rmSync(join(bin, 'compiled'), { recursive: true })
    const folder = scratch()
    async function keptIn(cache: string, mode = 0o700): Promise<boolean> {
      const own = join(folder, cache, 'heapflow')
      mkdirSync(own, { recursive: true })
      chmodSync(own, mode)
      const line = `"${process.execPath}" "${join(bin, 'mtrc-decode.js')}"`
      const { code, stderr } = await shell(`export XDG_CACHE_HOME='${join(folder, cache)}'; ${line}`, TRACE)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      return existsSync(join(own, 'compiled'))
    }
    expect(await keptIn('own')).toBe('enableCompileCache' in module)
    expect(await keptIn('own')).toBe('enableCompileCache' in module)
    expect(await keptIn('of-all', 0o777)).toBe(false)
  })

  test('is not needed', { tags: ['slow'] }, async () => {
    const { bin, kept, run } = copied()
    const { text, taken } = await run()
    expect(text).toBe((await shell('mtrc-decode', TRACE)).stdout.toString())
    expect(taken).toBeGreaterThan(5)
    const [first, ...others] = kept
    for (const other of others) cpSync(first!, other)
    expect(await run()).toEqual({ text, taken: 0 })
    rmSync(join(bin, 'compiled'), { recursive: true })
    expect(await run()).toEqual({ text, taken: 0 })
  })

  test('is not taken of a chunk that has changed, though its length is the same', { tags: ['slow'] }, async () => {
    const { chunks, run } = copied()
    const { text } = await run('--help')
    expect(text).toContain('Usage: ')
    for (const chunk of chunks)
      writeFileSync(chunk, readFileSync(chunk, 'latin1').replaceAll('Usage: ', 'Use as:'), 'latin1')
    expect((await run('--help')).text).toBe(text.replaceAll('Usage: ', 'Use as:'))
  })

  test('is not taken if what was kept is damaged', { tags: ['slow'] }, async () => {
    const { kept, run } = copied()
    const { text } = await run()
    const whole = kept.map((name) => [name, readFileSync(name)] as const)
    const damage: readonly ((bytes: Buffer) => Buffer)[] = [
      ...[0, 0.2, 0.4, 0.6, 0.8, 0.999].map((part) => (bytes: Buffer) => {
        const copy = Buffer.from(bytes)
        copy[Math.floor(part * copy.length)]! ^= 1
        return copy
      }),
      (bytes) => bytes.subarray(0, bytes.length - 2),
      (bytes) => Buffer.concat([bytes, Buffer.alloc(2)]),
      () => Buffer.alloc(0),
    ]
    for (const change of damage) {
      for (const [name, bytes] of whole) writeFileSync(name, change(bytes))
      expect(await run()).toEqual({ text, taken: 0 })
    }
  })
})

const PATCH = `
  const v8 = require('node:v8')
  const { setFlagsFromString } = v8
  const set = []
  v8.setFlagsFromString = (flags) => (set.push(flags), setFlagsFromString(flags))
  process.on('exit', () => require('node:fs').writeFileSync(process.env.FLAGS, set.slice(-2).join('; ')))`

/** The last flags that a command sets in a folder with a small trace and a large one. */
async function flagsOf(line: string): Promise<string> {
  const folder = scratch()
  const [patch, flags] = [join(folder, 'patch.cjs'), join(folder, 'flags')]
  writeFileSync(patch, PATCH)
  writeFileSync(join(folder, 'small.mtrc'), TRACE)
  writeFileSync(join(folder, 'large.ndjson'), Buffer.alloc(65_537, '\n'))
  await shell(`cd '${folder}'; export FLAGS='${flags}' NODE_OPTIONS='--require "${patch}"'; ${line}`, TRACE)
  return readFileSync(flags, 'utf8')
}

test('V8 compiles before Node ends, which may wait for it for ever', async () => {
  expect(await flagsOf('hf-stats small.mtrc')).toMatch(/(^|; )--allow-natives-syntax$/)
  expect(await flagsOf('hf-stats large.ndjson')).toMatch(/(^|; )--allow-natives-syntax$/)
})

describe.runIf(process.versions.v8.startsWith('11.3.'))('V8 compiles less', () => {
  test.each([
    'hf-stats small.mtrc',
    'hf-stats < small.mtrc',
    'hf-diff small.mtrc small.mtrc',
    'hf-convert small.mtrc x.hatf',
  ])('if all inputs are small files: %s', async (line) => expect(await flagsOf(line)).toContain('--no-sparkplug'))

  test.each([
    'cat small.mtrc | hf-stats',
    'hf-stats large.ndjson',
    'hf-diff small.mtrc large.ndjson',
    'hf-merge small.mtrc small.mtrc - < large.ndjson',
    'hf-generate --seed 1 --events 10 < small.mtrc',
    "hf-sql small.mtrc 'select 1'",
  ])('not otherwise: %s', async (line) => expect(await flagsOf(line)).not.toContain('sparkplug'))
})

test.each([
  'mtrc-decode',
  'mtrc-decode -u',
  'hf-filter --kind alloc',
  'hf-map --drop thread',
  'hf-stats',
  'hf-blocks',
  'hatf-encode',
  'replay-encode',
])('a trace in a file needs no module of Node that takes long to load: %s', async (line) => {
  const folder = scratch()
  const [loaded, trace] = [join(folder, 'loaded'), join(folder, 'trace.mtrc')]
  writeFileSync(trace, TRACE)
  const run = await shell(
    `export LOADED='${loaded}' NODE_OPTIONS='--require "${BUILTINS}"'; ${line} '${trace}' 2> /dev/null`,
  )
  expect(run.code).toBe(0)
  const builtins = builtinsOf(loaded)
  expect(builtins).toContain('fs')
  // node:v8, which sets flags, loads node:stream; both are left out here.
  const slow = /^(crypto|module|net|perf_hooks|tty|worker_threads|zlib)$/
  expect(builtins.filter((name) => slow.test(name))).toEqual([])
})

test('a trace in a pipe needs no clock that takes long to load', async () => {
  const loaded = join(scratch(), 'loaded')
  const run = await shell(`export LOADED='${loaded}' NODE_OPTIONS='--require "${BUILTINS}"'; mtrc-decode | cat`, TRACE)
  expect(run.stdout.length).toBeGreaterThan(0)
  expect(builtinsOf(loaded)).toContain('fs')
  expect(builtinsOf(loaded)).not.toContain('perf_hooks')
})

/** The modules of Node that a process loaded. */
function builtinsOf(file: string): string[] {
  return (JSON.parse(readFileSync(file, 'utf8')) as { builtins: string[] }).builtins
}
