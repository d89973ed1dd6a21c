import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { BATCH_EVENTS, batchesOf, type EventBatch } from '../../lib/event/batch.js'
import { parseFrame } from '../../lib/event/frame.js'
import type { TraceHeader } from '../../lib/event/header.js'
import type { TraceEvent } from '../../lib/event/trace-event.js'
import { demangled } from '../../lib/streams/symbols/demangle.js'
import { elfFile, MAX_DEBUG_BYTES } from '../../lib/streams/symbols/elf-file.js'
import { symbolize, type SymbolizeOptions } from '../../lib/streams/symbolize.js'

const PROGRAM = `#include <stdlib.h>
static inline __attribute__((always_inline)) void *inner(int n) { return malloc(n); }
static inline __attribute__((always_inline)) void *middle(int n) { return inner(n + 1); }
__attribute__((noinline)) void *outer(int n) { return middle(n * 2); }
#ifndef SHARED
int main(void) { return outer(3) == 0; }
#endif
`

const has = (tool: string): boolean => spawnSync(tool, ['--version'], { stdio: 'ignore' }).error === undefined
const missing = ['cc', 'addr2line', 'nm', 'objcopy', 'strip'].filter((tool) => !has(tool))
const tools = (['llvm-symbolizer', 'addr2line'] as const).filter(has)

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'symbolize-'))
  // Names that an earlier run kept are none of these tests.
  vi.stubEnv('XDG_CACHE_HOME', folder)
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

function compile(name: string, ...flags: string[]): string {
  const source = join(folder, 'app.c')
  writeFileSync(source, PROGRAM)
  const path = join(folder, name)
  execFileSync('cc', ['-O2', '-Wl,--build-id', ...flags, source, '-o', path])
  return path
}

/** The address in a file of the last instruction of `outer`, which is the jump to malloc. */
function addressOf(path: string): bigint {
  const line = execFileSync('nm', ['-S', path], { encoding: 'utf8' })
    .split('\n')
    .find((text) => text.endsWith(' T outer')) as string
  const [start, size] = line.split(' ')
  return BigInt(`0x${start}`) + BigInt(`0x${size}`) - 1n
}

async function run(
  events: TraceEvent[],
  options?: SymbolizeOptions,
  header?: TraceHeader,
): Promise<{ events: TraceEvent[]; warnings: string[] }> {
  const found: TraceEvent[] = []
  const warnings: string[] = []
  const stream = symbolize(options).on('warning', (text: string) => warnings.push(text))
  await pipeline(Readable.from(batchesOf(events, header)), stream, async (source: AsyncIterable<EventBatch>) => {
    for await (const batch of source) found.push(...batch)
  })
  return { events: found, warnings }
}

const alloc = (...stack: string[]): TraceEvent => ({ kind: 'alloc', address: 1n, size: 2n, stack })

describe.skipIf(missing.length > 0)(`symbolize (needs cc and binutils; absent: ${missing.join(' ') || 'none'})`, () => {
  const kinds = [
    ['position-independent', ['-g', '-pie', '-fPIE']],
    ['at a fixed address', ['-g', '-no-pie']],
    ['a shared library', ['-g', '-shared', '-fPIC', '-DSHARED']],
  ] as const
  for (const tool of tools)
    for (const [what, flags] of kinds)
      test(`${tool} gives functions, lines and inlined callers: ${what}`, async () => {
        const path = compile(`kind-${what.replaceAll(' ', '-')}`, ...flags)
        const raw = `in ${path}+0x${addressOf(path).toString(16)} [0x7f00]`
        const known = 'known at x.c:1'
        const { events, warnings } = await run([alloc(raw, known), alloc(known), { kind: 'free', address: 1n }], {
          tool,
        })
        const [first, ...others] = events
        const frames = (first?.stack ?? []).map(parseFrame)
        expect(warnings).toEqual([])
        expect(frames.map((frame) => frame.function)).toEqual(['inner', 'middle', 'outer', 'known'])
        expect(frames.map((frame) => frame.inlined)).toEqual([true, true, undefined, undefined])
        expect(frames[2]).toMatchObject({ module: path, line: 4, address: 0x7f00n })
        expect(others).toEqual([alloc(known), { kind: 'free', address: 1n }])
      })

  test('symbol tables alone give the function', async () => {
    const path = compile('plain', '-pie', '-fPIE')
    const raw = `in ${path}+0x${addressOf(path).toString(16)}`
    const { events } = await run([alloc(raw)], { tool: 'none' })
    expect(events[0]?.stack).toEqual([`outer ${raw}`])
  })

  test('the debug file of a stripped module is found by its build id', async () => {
    const path = compile('stripped', '-g', '-pie', '-fPIE')
    const raw = `in ${path}+0x${addressOf(path).toString(16)}`
    const id = elfFile(path)?.buildId as string
    const into = join(folder, 'debug', '.build-id', id.slice(0, 2))
    mkdirSync(into, { recursive: true })
    execFileSync('objcopy', ['--only-keep-debug', path, join(into, `${id.slice(2)}.debug`)])
    execFileSync('strip', [path])
    expect((await run([alloc(raw)])).events[0]?.stack).toEqual([raw])
    const { events } = await run([alloc(raw)], { debugDirs: [join(folder, 'debug')] })
    expect(events[0]?.stack?.map((text) => parseFrame(text).function)).toEqual(['inner', 'middle', 'outer'])
    // The module need not be there if the build id is known.
    const gone = raw.replace('stripped', 'gone')
    const ids = { [join(folder, 'gone')]: id }
    const found = await run([alloc(gone)], { debugDirs: [join(folder, 'debug')], buildIds: ids })
    expect(found.events[0]?.stack).toHaveLength(3)
  })

  test.each([
    ['beside it', '', []],
    ['in .debug beside it', '.debug', []],
    ['in a folder of debug files, by its path', 'tree', ['tree']],
    ['in a folder of debug files, by its name', 'flat', ['flat']],
  ])('the debug file that a module names is found %s, with its build id or else its CRC', async (_, place, dirs) => {
    for (const flag of ['--build-id', '--build-id=none']) {
      const beside = mkdtempSync(join(folder, 'linked-'))
      const path = compile(join(basename(beside), 'app'), '-g', '-pie', '-fPIE', `-Wl,${flag}`)
      const raw = `in ${path}+0x${addressOf(path).toString(16)}`
      const into = join(beside, place, place === 'tree' ? beside : '')
      mkdirSync(into, { recursive: true })
      const debug = join(into, 'app.debug')
      execFileSync('objcopy', ['--only-keep-debug', path, debug])
      execFileSync('strip', [path])
      execFileSync('objcopy', [`--add-gnu-debuglink=${debug}`, path])
      const options = { debugDirs: dirs.map((name) => join(beside, name)) }
      const { events } = await run([alloc(raw)], options)
      expect(events[0]?.stack?.map((text) => parseFrame(text).function)).toEqual(['inner', 'middle', 'outer'])
      // That of another build is refused.
      execFileSync('objcopy', ['--only-keep-debug', compile('another', '-g', '-O1', `-Wl,${flag}`), debug])
      expect((await run([alloc(raw)], options)).events[0]?.stack).toEqual([raw])
    }
  })

  test.skipIf(!has('xz'))(
    'a stripped module may have its symbols in itself, compressed (needs xz)',
    { tags: ['slow'] },
    async () => {
      const path = compile('embedded', '-pie', '-fPIE')
      const raw = `in ${path}+0x${addressOf(path).toString(16)}`
      const symbols = join(folder, 'embedded.symbols')
      copyFileSync(path, symbols)
      execFileSync('strip', ['--strip-debug', symbols])
      execFileSync('xz', ['--keep', symbols])
      execFileSync('strip', [path])
      expect((await run([alloc(raw)])).events[0]?.stack).toEqual([raw])
      execFileSync('objcopy', ['--add-section', `.gnu_debugdata=${symbols}.xz`, path])
      expect((await run([alloc(raw)])).events[0]?.stack).toEqual([`outer ${raw}`])
      // What is damaged, or inflates to more than is read, gives no names.
      const damaged = readFileSync(`${symbols}.xz`)
      damaged[damaged.length >> 1] ^= 1
      const large = execFileSync('xz', ['-0'], { input: new Uint8Array(MAX_DEBUG_BYTES + 1) })
      for (const content of [damaged, large]) {
        writeFileSync(`${symbols}.refused`, content)
        execFileSync('objcopy', ['--update-section', `.gnu_debugdata=${symbols}.refused`, path])
        expect(await run([alloc(raw)])).toEqual({ events: [alloc(raw)], warnings: [] })
      }
    },
  )

  test(
    'debuginfod is asked for the debug file of a stripped module, only where its servers are named',
    { tags: ['slow'] },
    async () => {
      const path = compile('remote', '-g', '-pie', '-fPIE')
      const raw = `in ${path}+0x${addressOf(path).toString(16)}`
      const id = elfFile(path)?.buildId as string
      const debug = join(folder, 'fetched.debug')
      execFileSync('objcopy', ['--only-keep-debug', path, debug])
      execFileSync('strip', [path])
      const tools = join(folder, 'debuginfod')
      mkdirSync(tools)
      const log = join(folder, 'asked')
      writeFileSync(
        join(tools, 'debuginfod-find'),
        `#!/bin/sh\necho "$@" >> ${log}\n[ "$2" = ${id} ] && echo ${debug}\n`,
        { mode: 0o755 },
      )
      const { PATH, DEBUGINFOD_URLS } = process.env
      try {
        process.env['PATH'] = `${tools}:${PATH}`
        delete process.env['DEBUGINFOD_URLS']
        expect((await run([alloc(raw)])).events[0]?.stack).toEqual([raw])
        expect(existsSync(log)).toBe(false)
        process.env['DEBUGINFOD_URLS'] = 'http://127.0.0.1:9'
        const { events } = await run([alloc(raw)])
        expect(events[0]?.stack?.map((text) => parseFrame(text).function)).toEqual(['inner', 'middle', 'outer'])
        expect(readFileSync(log, 'utf8')).toBe(`debuginfo ${id}\n`)
        // A file of another build is refused, as anywhere else.
        writeFileSync(join(tools, 'debuginfod-find'), `#!/bin/sh\necho ${process.execPath}\n`)
        expect((await run([alloc(raw)])).events[0]?.stack).toEqual([raw])
      } finally {
        process.env['PATH'] = PATH
        if (DEBUGINFOD_URLS === undefined) delete process.env['DEBUGINFOD_URLS']
        else process.env['DEBUGINFOD_URLS'] = DEBUGINFOD_URLS
      }
    },
  )

  test('without a tool, the first module with line tables is named in a warning, unless no tool is wanted', async () => {
    const path = compile('toolless', '-g')
    const event = alloc(`in ${path}+0x${addressOf(path).toString(16)}`)
    const { PATH } = process.env
    vi.stubEnv('PATH', folder)
    const none = await run([event], { tool: 'none' })
    const { events, warnings } = await run([event, event])
    vi.stubEnv('PATH', PATH)
    expect([events[0]?.stack, none.warnings]).toEqual([none.events[0]?.stack, []])
    expect(warnings).toEqual([`${path}: no files and lines: neither llvm-symbolizer nor addr2line is installed`])
  })

  test('a file with another build id is refused with both', async () => {
    const path = compile('other', '-g')
    const raw = `in ${path}+0x${addressOf(path).toString(16)}`
    const { events, warnings } = await run([alloc(raw)], { buildIds: { [path]: 'abcd' } })
    expect(events).toEqual([alloc(raw)])
    expect(warnings).toEqual([`no names: ${path} has the build id ${elfFile(path)?.buildId}, and not abcd`])
  })

  test('the build ids that a recording notes are those that files must have', { tags: ['slow'] }, async () => {
    const path = compile('recorded', '-g')
    const raw = `in ${path}+0x${addressOf(path).toString(16)}`
    const id = elfFile(path)?.buildId as string
    const header = { format: 'recorder' }
    const note = (text: string): TraceEvent => ({ kind: 'comment', text })
    const same = await run([note(`module 0x0 ${id} ${path}`), alloc(raw)], {}, header)
    expect(same.events[1]?.stack).toHaveLength(3)
    for (const text of [`module 0x7f00 abcd ${path}`, `module 0x7f00 - /gone\u0000`]) {
      const { events, warnings } = await run([note(text), alloc(raw)], {}, header)
      const isOther = text.includes('abcd')
      expect(events[1]?.stack).toHaveLength(isOther ? 1 : 3)
      expect(warnings).toEqual(isOther ? [`no names: ${path} has the build id ${id}, and not abcd`] : [])
    }
    // A later program at the same path, of which nothing is known.
    const later = [note(`module 0x0 abcd ${path}`), note(`module 0x0 - ${path}`), alloc(raw)]
    expect((await run(later, {}, header)).events[2]?.stack).toHaveLength(3)
  })

  test('call sites in a module get functions, files and lines', async () => {
    const path = compile('sites', '-g', '-pie', '-fPIE')
    // The call returns to the address after its last byte.
    const callSite = addressOf(path) + 1n
    const site: TraceEvent = { kind: 'alloc', address: 1n, size: 2n, callSite, module: path }
    const source = join(folder, 'app.c')
    const { events, warnings } = await run([
      site,
      { ...site, function: '', fields: { offset: '+1' } },
      { ...site, function: 'exported' },
      { ...site, function: '_ZN3foo3barEv' },
      { ...site, file: 'known.c', line: 7 },
      { ...site, callSite: 0n },
      { ...site, callSite: 2n ** 63n },
      { kind: 'free', address: 1n },
      { ...site, module: '/no/such' },
    ])
    expect(warnings).toEqual(['no names: there is no ELF file /no/such'])
    const places = events.map((event) => [event.function, event.file, event.line])
    expect(places).toEqual([
      ['inner', source, 2],
      ['inner', source, 2],
      ['exported', source, 4],
      ['outer', source, 4],
      [undefined, 'known.c', 7],
      [undefined, undefined, undefined],
      [undefined, undefined, undefined],
      [undefined, undefined, undefined],
      [undefined, undefined, undefined],
    ])
    expect(events.every((event) => event.kind === 'free' || event.module !== undefined)).toBe(true)
    // Without line tables, the function alone.
    execFileSync('strip', ['-g', path])
    const { events: plain } = await run([site])
    expect(plain).toEqual([{ ...site, function: 'outer' }])
  })

  test('call sites and stacks of one batch are both named', async () => {
    const path = compile('both', '-g', '-pie', '-fPIE')
    const offset = addressOf(path)
    const raw = alloc(`in ${path}+0x${offset.toString(16)}`)
    const site: TraceEvent = { kind: 'alloc', address: 1n, callSite: offset + 1n, module: path }
    const { events } = await run([raw, site])
    expect(events[0]?.stack).toHaveLength(3)
    expect(events[1]).toMatchObject({ function: 'inner', line: 2 })
  })

  test('a module that is not there, or no ELF file, is reported once', async () => {
    const text = join(folder, 'text')
    writeFileSync(text, 'not ELF')
    const stacks = [alloc(`in /no/such+0x10`), alloc(`in /no/such+0x20`), alloc(`in ${text}+0x1`)]
    const { events, warnings } = await run(stacks)
    expect(events).toEqual(stacks)
    expect(warnings).toEqual(['no names: there is no ELF file /no/such', `no names: there is no ELF file ${text}`])
  })

  test('copies of functions, and those of Rust, have plain names', async () => {
    const names = ['f.isra.0', '_ZN3app5parseEi.part.0.cold', '_ZN4core3fmt5write17h0123456789abcdefE', 'h']
    const rust = '_RNvCs1234_7mycrate3foo'
    const plain = await demangled([...names, rust], new AbortController().signal)
    expect(plain.slice(0, 4)).toEqual(['f', 'app::parse(int)', 'core::fmt::write', 'h'])
    expect(plain[4]).toBe('mycrate::foo')
  })
  test(
    '100,000 frames take at most twice the time of addr2line itself',
    { tags: ['slow'], timeout: 60_000 },
    async () => {
      const path = process.execPath
      const offsets = Array.from({ length: 100_000 }, (_, i) => (0xc00000 + 64 * i).toString(16))
      const events = offsets.map((offset) => alloc(`in ${path}+0x${offset}`))
      const start = performance.now()
      execFileSync('addr2line', ['-a', '-i', '-C', '-f', '-e', path], { input: offsets.join('\n'), maxBuffer: 2 ** 26 })
      const alone = performance.now()
      const { events: named } = await run(events, { tool: 'addr2line' })
      expect(performance.now() - alone).toBeLessThan(2 * (alone - start) + 1000)
      expect(named.length).toBe(events.length)
      expect(
        named.filter(({ stack }) => parseFrame(stack?.[0] as string).function !== undefined).length,
      ).toBeGreaterThan(0)
    },
  )

  test('a stream that is destroyed leaves no process', async () => {
    const path = compile('killed', '-g')
    const raw = alloc(`in ${path}+0x${addressOf(path).toString(16)}`)
    const children = () =>
      readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1')
        .trim()
        .split(' ')
        .filter((pid) => pid !== '' && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(path))
    const stream = symbolize({ tool: 'addr2line' })
    stream.write(batchesOf([raw])[0])
    await new Promise((resolve) => stream.once('readable', resolve))
    expect(children().length).toBe(1)
    stream.destroy()
    await expect.poll(() => children().length).toBe(0)
  })

  test('the events before a fault are named, and then the fault is reported', { tags: ['slow'] }, async () => {
    const path = compile('cut', '-g')
    const raw = alloc(`in ${path}+0x${addressOf(path).toString(16)}`)
    const seen: TraceEvent[] = []
    const [batch] = batchesOf(Array.from({ length: BATCH_EVENTS }, () => raw))
    const source = async function* (): AsyncGenerator<unknown> {
      yield batch
      yield await Promise.resolve('no batch')
    }
    const flow = pipeline(Readable.from(source()), symbolize(), async (from: AsyncIterable<EventBatch>) => {
      for await (const named of from) seen.push(...named)
    })
    await expect(flow).rejects.toThrow(/symbolize\(\)/)
    expect(seen.length).toBe(BATCH_EVENTS)
    expect(seen[0]?.stack).toHaveLength(3)
  })

  test('a damaged module has fewer names, and nothing worse', async () => {
    const path = compile('whole', '-pie', '-fPIE')
    const raw = `+0x${addressOf(path).toString(16)}`
    const bytes = readFileSync(path)
    const damaged = join(folder, 'damaged')
    for (let n = 0; n < 40; n++) {
      copyFileSync(path, damaged)
      writeFileSync(damaged, bytes.subarray(0, Math.floor((bytes.length * n) / 40)))
      const { events } = await run([alloc(`in ${damaged}${raw}`)], { tool: 'none' })
      expect(events[0]?.stack?.length).toBe(1)
    }
  })
})
