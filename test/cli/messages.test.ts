// @module-tag slow
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { limitReached } from '../../lib/cli/limits.js'
import { scratch, shell } from '../support/commands.js'

const TRACE = readFileSync(new URL('../golden/mtrc/sources.mtrc', import.meta.url))
const EVENTS = readFileSync(new URL('../golden/mtrc/sources.ndjson', import.meta.url), 'utf8')
const DUMP = '1: malloc 0x10 5\n1: free 0x10\n'.repeat(50)

/** A folder with traces of several formats. */
function traces(): string {
  const folder = scratch()
  writeFileSync(join(folder, 'a.mtrc'), TRACE)
  writeFileSync(join(folder, 'a.ndjson'), EVENTS)
  writeFileSync(join(folder, 'dump.txt'), DUMP)
  writeFileSync(join(folder, 'cut.mtrc'), TRACE.subarray(0, -6))
  writeFileSync(join(folder, 'cut.mtrc.gz'), gzipSync(TRACE).subarray(0, -12))
  writeFileSync(join(folder, 'a.hatf.txt'), '')
  return folder
}

test('a cut last line is an error that names the flag for complete ones, of the command or of hf-convert', async () => {
  const message = async (line: string) => (await shell(line, DUMP.slice(0, -1))).stderr
  const reason = 'truncated: the last line does not end with a line feed'
  expect(await message('replay-decode')).toContain(`${reason}; --last-line takes it as complete\n`)
  expect(await message('hf-stats')).toContain(`${reason}; hf-convert --last-line takes it as complete\n`)
  expect(await message('hf-convert --to replay')).toContain(`${reason}; --last-line takes it as complete\n`)
  expect(await message('hf-convert --last-line --to replay')).toBe('')
})

describe('a decoder of another format', () => {
  test.each([
    [
      'mtrc-decode dump.txt',
      'mtrc-decode: dump.txt: not mpatrol MTRC: it looks like memory_replay; use replay-decode\n',
    ],
    ['replay-decode a.mtrc', 'replay-decode: a.mtrc: not memory_replay: it looks like mpatrol MTRC; use mtrc-decode\n'],
    [
      'replay-decode < a.mtrc',
      'replay-decode: stdin: not memory_replay: it looks like mpatrol MTRC; use mtrc-decode\n',
    ],
    [
      'mtrc-decode a.ndjson',
      'mtrc-decode: a.ndjson: not mpatrol MTRC: it looks like heapflow NDJSON; use hf-convert\n',
    ],
    [
      'metatf-decode a.mtrc',
      'metatf-decode: a.mtrc: not a Meta-TF trace: it looks like mpatrol MTRC; use mtrc-decode\n',
    ],
    [
      'hf-convert --from mtrc dump.txt out.ndjson',
      'hf-convert: dump.txt: not mpatrol MTRC: it looks like memory_replay\n',
    ],
    [
      'kmemtrace-decode a.mtrc',
      'kmemtrace-decode: a.mtrc: not kmemtrace: it looks like mpatrol MTRC; use mtrc-decode\n',
    ],
  ])('is told which one it is: %s', async (line, stderr) => {
    expect(await shell(`cd ${traces()} && ${line}`)).toMatchObject({ code: 1, stderr })
  })

  test('but a fault behind the first event is that of the format', async () => {
    const folder = scratch()
    writeFileSync(join(folder, 'x.txt'), `${DUMP}what is this\n`)
    expect((await shell(`cd ${folder} && replay-decode x.txt`)).stderr).toMatch(
      /^replay-decode: x\.txt: replay: line 101, .*malformed/,
    )
  })
})

test('control characters of names are escaped', async () => {
  expect((await shell(`cd ${scratch()} && hf-stats $'a\\e[31m\\nb'`)).stderr).toBe(
    'hf-stats: a\\u001b[31m\\u000ab: no such file or directory\n',
  )
})

describe('compression that is not read', () => {
  test.each([
    ['bzip2', '425a683931415926535984'],
    ['bzip2', '425a683917724538509000000000'],
    ['lz4', '04224d1864'],
  ])('is named, with the program for it: %s %s', async (name, magic) => {
    const folder = scratch()
    writeFileSync(join(folder, 'trace'), Buffer.from(`${magic}0102030405`, 'hex'))
    for (const command of ['hf-stats', 'mtrc-decode', 'hf-verify']) {
      expect(await shell(`cd ${folder} && ${command} trace`)).toMatchObject({
        code: 1,
        stderr: `${command}: trace: compressed with ${name}, which heapflow does not read: decompress it first (${name} -dc FILE | ...)\n`,
      })
    }
  })

  test.each([
    ['memray\\0\\f\\0\\0\\0\\0', 'this is a file of memray, which only memray reads '],
    ['PERFILE2h\\0\\0\\0', 'this is a file of perf record: perf script -i FILE writes '],
    ['\\027\\010Dtracing6\\0', 'this is a file of trace-cmd record: trace-cmd report FILE writes '],
    ['\\nMemory not freed:\\n---', 'this is a report of the script mtrace: '],
    ['- 0x0000000005633290 Free 1 was never', 'this is a report of the script mtrace: '],
    ['%% time     seconds  usecs/call', 'this is a summary of ltrace -c or strace -c, '],
    ['execve("/bin/ls", ["ls"], 0x7f) = 0\\n', 'this is a log of strace, '],
    ['\\377\\376=\\0 \\0S\\0', 'this is text in UTF-16, as > of PowerShell writes it: convert it to UTF-8'],
  ])('that another tool wrote gets a sentence that says what it is: %s', async (bytes, reason) => {
    const { code, stderr } = await shell(`printf -- '${bytes}' | hf-stats`)
    expect([code, stderr.startsWith(`hf-stats: stdin: ${reason}`)]).toEqual([1, true])
  })

  test('is told apart by more than its first bytes', async () => {
    expect((await shell('hf-stats', 'BZh9, and then a text that is no trace of any kind')).stderr).toMatch(
      /^hf-stats: stdin: unrecognized format; supported are mpatrol MTRC, /,
    )
  })
})

describe('messages about an input name it', () => {
  test.each([
    ['hf-filter cut.mtrc', /^hf-filter: cut\.mtrc: mtrc: byte \d+, event \d+: truncated: /m],
    ['hf-filter < cut.mtrc', /^hf-filter: stdin: mtrc: byte \d+, event \d+: truncated: /m],
    ['mtrc-decode cut.mtrc.gz', /^mtrc-decode: cut\.mtrc\.gz: gzip: .*truncated: /m],
    ['hf-stats a.hatf.txt', /^hf-stats: warning: a\.hatf\.txt: the input is empty: /m],
    ['hf-sort cut.mtrc', /^hf-sort: cut\.mtrc: mtrc: byte /m],
    ['hf-merge --end-to-end cut.mtrc a.mtrc', /^hf-merge: cut\.mtrc: mtrc: byte /m],
    ['hf-merge --end-to-end - a.mtrc < cut.mtrc', /^hf-merge: stdin: mtrc: byte /m],
    ["hf-split --by kind -o 'p-{}.txt' cut.mtrc", /^hf-split: cut\.mtrc: mtrc: byte /m],
    ['hatf-join -a a.mtrc cut.mtrc.gz', /^hatf-join: (cut\.mtrc\.gz|a\.mtrc): /m],
    ['hf-sort --by cpu dump.txt', /^hf-sort: warning: dump\.txt: no event has a field "cpu"; order left unchanged$/m],
    ['hf-filter < .', /^hf-filter: standard input: is a directory$/m],
    ['hf-filter .', /^hf-filter: \.: is a directory$/m],
    ['hf-filter nothing', /^hf-filter: nothing: no such file or directory$/m],
  ])('%s', async (line, message) => {
    expect((await shell(`cd ${traces()} && ${line}`)).stderr).toMatch(message)
  })

  test('an encoder names its format, and what represents everything', async () => {
    const folder = traces()
    expect((await shell(`cd ${folder} && hf-convert --strict a.mtrc x.hatf`)).stderr).toMatch(
      /^hf-convert: hatf: event 1: cannot represent /m,
    )
    expect((await shell(`cd ${folder} && hatf-encode a.mtrc > x.hatf`)).stderr).toMatch(
      /^hatf-encode: warning: not representable in hatf, dropped or changed: .*; --attributes keeps them\n$/,
    )
    expect((await shell(`cd ${folder} && hf-filter a.mtrc --to hatf > x.hatf`)).stderr).not.toContain('--attributes')
  })
})

test('a format that a DTD defines is written by another command, which the message names', async () => {
  expect(await shell(`cd ${traces()} && hf-convert a.mtrc x.mtf --to metatf`)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^hf-convert: --to must be one of .*, not "metatf": .*metatf-encode --dtd FILE; see/),
  })
})

test.runIf(process.platform === 'linux')('too many open files is a sentence', async () => {
  const stderr = 'hf-stats: too many open files: raise the limit (ulimit -n)\n'
  // The highest limit at which it fails depends on what Node itself has open.
  const line = 'for n in {24..10}; do ulimit -n $n; hf-stats a.mtrc > /dev/null || exit 1; done'
  expect(await shell(`cd ${traces()}; ${line}`)).toMatchObject({ code: 1, stderr })
})

test.runIf(process.platform === 'linux')('too little address space is a sentence, where Node needs more', async () => {
  const result = await shell(`cd ${traces()} && ulimit -v 4000000; hf-filter a.mtrc --to ndjson`)
  const advice = 'raise ulimit -v, or set NODE_OPTIONS=--disable-wasm-trap-handler'
  // Node 24 reserves less where there is less.
  if (result.code === 0) expect(result.stdout.toString()).toBe(EVENTS)
  else expect(result.stderr).toBe(`hf-filter: not enough address space for WebAssembly: ${advice}\n`)
})

test.runIf(process.platform === 'linux')('less address space is enough without the trap handler', async () => {
  const line = 'ulimit -v 4000000; NODE_OPTIONS=--disable-wasm-trap-handler hf-filter a.mtrc --to ndjson'
  const { code, stdout, stderr } = await shell(`cd ${traces()} && { ${line}; }`)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.toString()).toBe(EVENTS)
})

test('more files than can be open: the message is about files, not about modules', async () => {
  const folder = scratch()
  mkdirSync(join(folder, 'in'))
  for (let i = 0; i < 40; i++) writeFileSync(join(folder, 'in', `${i}.ndjson`), EVENTS)
  const { code, stderr } = await shell(
    `cd ${folder} && ulimit -n 40; hf-merge --end-to-end in/* > out; hf-merge --by time in/*`,
  )
  expect(code).toBeGreaterThan(0)
  expect(stderr).not.toContain('dist/')
  expect(stderr).toMatch(/ulimit -n/)
})

describe('a module that Node cannot find', () => {
  const missing = (message: string) => limitReached(Object.assign(new Error(message), { code: 'ERR_MODULE_NOT_FOUND' }))
  const through2 = fileURLToPath(new URL('../../node_modules/through2/index.js', import.meta.url))

  test('exists where too many files are open', () => {
    const reason = 'too many open files: raise the limit (ulimit -n)'
    expect(missing(`Cannot find package '${through2}' imported from stage.js`)).toBe(reason)
    expect(missing(`Cannot find module '${fileURLToPath(import.meta.url)}' imported from start.js`)).toBe(reason)
  })

  test('is missing where the installation is broken', () => {
    expect(missing("Cannot find package 'through2' imported from stage.js")).toBeUndefined()
    expect(missing(`Cannot find package '${through2.replace('2', '3')}' imported from stage.js`)).toBeUndefined()
    expect(missing("Cannot find module '/dist/no/such.js' imported from start.js")).toBeUndefined()
  })
})

describe('a value that a codec refuses', () => {
  const distance = '--checkpoint must be a number of events from 4096, which may end in K or M, not "10"'
  const page = '--page-size must be a power of two up to 2^30, not 3'
  test.each([
    ['compact-encode --checkpoint 10 a.ndjson', `compact-encode: ${distance}; see compact-encode --help\n`],
    ['hf-convert --checkpoint 10 a.ndjson a.hfc', `hf-convert: ${distance}; see hf-convert --help\n`],
    ['tracepoints-decode --page-size 3', `tracepoints-decode: ${page}; see tracepoints-decode --help\n`],
    [
      `hf-convert --page-size 3 ${fileURLToPath(new URL('../golden/tracepoints/ftrace.txt', import.meta.url))} a.hfc`,
      `hf-convert: ${page}; see hf-convert --help\n`,
    ],
    [
      'compact-encode --best --fast a.ndjson',
      'compact-encode: --fast and --best cannot be combined; see compact-encode --help\n',
    ],
    ...['kmemtrace-encode', 'kmemtrace-encode -o c/', 'kmemtrace-decode'].map((line): [string, string] => {
      const [command] = line.split(' ')
      const reason = '--word-size cannot be 4 with layout relay'
      return [`${line} --layout relay --word-size 4 a.ndjson`, `${command}: ${reason}; see ${command} --help\n`]
    }),
  ])('is reported with its flag: %s', async (line, stderr) => {
    expect(await shell(`cd ${traces()} && ${line}`)).toMatchObject({ code: 2, stderr })
  })
})
