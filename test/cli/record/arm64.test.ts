// @module-tag slow
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../../lib/event/trace-event.js'
import { RecorderDecoder } from '../../../lib/formats/recorder/decode.js'
import { fileName, RECORDER_LIBRARY, RECORDER_READER } from '../../../lib/streams/record/compiled.js'
import { shell } from '../../support/commands.js'
import { decodeAll } from '../../support/drive.js'
import {
  compileArm,
  compileCxx,
  compileRecorderForArm,
  compileText,
  emulator,
  namesIn,
  notedChains,
  obstacle,
  type ArmProgram,
} from './arm64-programs.js'
import { can, compileRecorder } from './programs.js'
import { checkBlocks, COUNTER, PROGRAMS } from './own-programs.js'

/*
 * Programs for arm64 run in qemu's user mode, with the library for arm64. The reader is that of this machine: what both
 * share has the same layout. The reader for arm64 runs in qemu, too, in one test.
 */
const folder = mkdtempSync(join(tmpdir(), 'heapflow-arm64-'))
const root = fileURLToPath(new URL('../../../', import.meta.url))
const at = (name: string) => join(folder, name)
const native = (name: string) => join(root, 'native/recorder', name)
const run = (line: string) => shell(`cd ${folder}; ${line}`)

const skipped = process.arch !== 'x64' || !can('recorder') ? 'the recorder cannot run here' : obstacle

/** The line that the dynamic linker of this machine writes, because the library is not for qemu itself. */
const IGNORED = /^ERROR: ld\.so: object '[^']+' from LD_PRELOAD cannot be preloaded [^\n]*\n/gm

interface Options {
  /** What the reader is called with. */
  readonly flags?: string
  readonly library?: string
  readonly qemu?: readonly string[]
  /** The most frames of stacks. */
  readonly depth?: number
}

/** Records a program. The status is that of the program. */
async function record(
  command: string,
  { flags = '-c', library = 'recorder.so', qemu = [], depth = 512 }: Options = {},
) {
  const { code, stderr } = await run(
    `./reader a.hfrec ${at(library)} ${depth} ${flags} ${emulator(...qemu)} ${command}`,
  )
  const decoder = new RecorderDecoder()
  const { events: all, error } = decodeAll(decoder, new Uint8Array(readFileSync(at('a.hfrec'))))
  expect(error).toBeUndefined()
  const events = all.filter(({ kind }) => kind !== 'comment' && kind !== 'other')
  return { code, stderr: stderr.replace(IGNORED, ''), events, all, warnings: decoder.warnings }
}

const numberOf = (events: readonly TraceEvent[], is: (event: TraceEvent) => boolean) => events.filter(is).length
const blocksOf = (events: readonly TraceEvent[], size: bigint) =>
  events.filter((event) => event.kind === 'alloc' && event.size === size)

/** How the programs of stacks are compiled: with and without frame pointers, and with signed return addresses. */
const COMPILED: Record<string, readonly string[]> = {
  'without optimization': ['-O0', '-fno-omit-frame-pointer'],
  'without frame pointers': ['-O2', '-fomit-frame-pointer', '-momit-leaf-frame-pointer'],
  'with frame pointers, and return addresses signed': [
    '-O2',
    '-fno-omit-frame-pointer',
    '-mno-omit-leaf-frame-pointer',
    '-march=armv8.3-a',
    '-mbranch-protection=standard',
  ],
  'with return addresses signed with the other key': [
    '-O3',
    '-march=armv8.3-a',
    '-mbranch-protection=pac-ret+leaf+b-key+bti',
  ],
}
const WITHOUT_FRAME_POINTERS = 1
const eachCompiled = test.each(Array.from(Object.keys(COMPILED), (how, i) => ({ how, i })))

/** The number of events by kind of call. */
const countsOf = (events: readonly TraceEvent[]) =>
  [
    numberOf(events, ({ api }) => api === 'malloc'),
    numberOf(events, ({ api }) => api === 'calloc'),
    numberOf(events, ({ api }) => api === 'memalign'),
    numberOf(events, ({ kind, api }) => api === 'realloc' && kind !== 'free'),
    numberOf(events, ({ api }) => api === 'free'),
  ].map(BigInt)

/** The counts of an independent library, and a sum of the addresses of blocks. */
async function counted(command: string): Promise<bigint[]> {
  const counter = emulator('-E', `LD_PRELOAD=${at('counter.so')}`)
  await run(`COUNTS=${at('counts')} HEAPFLOW_RECORDER=x ${counter} ${command}`)
  return readFileSync(at('counts'), 'utf8').split(' ').map(BigInt)
}

const shared = RECORDER_LIBRARY.options
const what = `the recorder for arm64, in qemu${skipped === undefined ? '' : ` (skipped: ${skipped})`}`

describe.skipIf(skipped !== undefined)(what, () => {
  beforeAll(() => {
    compileRecorderForArm(at('recorder.so'), native('recorder.c'), ...shared)
    compileRecorderForArm(at('whole.so'), native('recorder.c'), ...shared, '-DWHOLE_WALKS')
    compileRecorderForArm(at('maps.so'), native('recorder.c'), ...shared, '-DWITHOUT_FIND_OBJECT')
    compileRecorderForArm(at('signed.so'), native('recorder.c'), ...shared, '-mbranch-protection=standard')
    expect(compileRecorder('-O1', '-o', at('reader'), native('reader.c'))).toBe(true)
    compileText(folder, 'counter.so', COUNTER, '-O1', '-shared', '-fPIC')
    for (const name of ['every', 'ends', 'threads'] as const) compileText(folder, name, PROGRAMS[name], '-O1')
    Object.values(COMPILED).forEach((options, i) => {
      for (const program of ['chains', 'timer', 'jit'] satisfies ArmProgram[])
        compileArm(folder, program, `${program}${i}`, ...options)
    })
  }, 120_000)
  afterAll(() => rmSync(folder, { recursive: true }))

  const calls: { library: string; qemu: string[] }[] = ['recorder.so', 'maps.so', 'signed.so'].map((library) => ({
    library,
    qemu: [],
  }))
  calls.push({ library: 'recorder.so', qemu: ['-p', '65536'] })
  test.each(calls)(
    '$library $qemu: the calls of each kind are those of an independent count',
    async ({ library, qemu }) => {
      const counts = await counted('./every')
      // With large pages, qemu does not list the stack among the mappings, so that no stack can be read.
      const isLarge = qemu.length > 0
      for (const flags of isLarge ? ['-'] : ['-', '-f']) {
        const { code, stderr, events } = await record('./every', { library, flags, qemu, depth: isLarge ? 0 : 512 })
        expect([code, stderr]).toEqual([0, ''])
        expect(countsOf(events)).toEqual(counts.slice(0, 5))
        expect(numberOf(events, ({ kind }) => kind === 'lost')).toBe(0)
        const frees = events.filter(({ kind, api }) => kind === 'free' && api === 'free')
        expect(frees.every(({ stack = [] }) => stack.some((text) => text.includes(at('every'))))).toBe(flags === '-f')
      }
    },
  )

  eachCompiled('$how: stacks are the chains that the program notes', async ({ i }) => {
    const program = at(`chains${i}`)
    const names = namesIn(program)
    const further = [{ library: 'maps.so' }, { library: 'signed.so' }]
    for (const options of [{}, ...(i === WITHOUT_FRAME_POINTERS ? further : [])]) {
      const { code, stderr, events } = await record(`${program} notes`, options)
      expect([code, stderr]).toEqual([0, ''])
      const expected = notedChains(at('notes'))
      expect(expected.length).toBeGreaterThan(2000)
      const found = events.filter(({ kind, size = 0n }) => kind === 'alloc' && size >= 3000n && size < 3500n)
      const stacks = found.map((event) => names(event).filter((name) => name !== 'next' && name !== 'compare'))
      expect(stacks).toEqual(expected.map((chain) => [...chain, 'main', '_start']))
    }
  })

  eachCompiled('$how: walks that use the walk before them are those that do not', async ({ i }) => {
    for (const program of [`chains${i} notes`, `jit${i}`]) {
      const traces: unknown[] = []
      for (const library of ['recorder.so', 'whole.so']) {
        const { events } = await record(`./${program}`, { library, flags: '-f' })
        traces.push(events.map(({ kind, size, stack }) => [kind, size, stack]))
      }
      expect(traces[0]).toEqual(traces[1])
    }
  })

  eachCompiled('$how: handlers have whole stacks, whatever they interrupt', async ({ i }) => {
    const names = namesIn(at(`timer${i}`))
    for (const command of [`./timer${i}`, `./timer${i} onstack`]) {
      const { code, stderr, events } = await record(command)
      expect([code, stderr]).toEqual([0, ''])
      const stacks = blocksOf(events, 4243n).map((event) => names(event).join(' '))
      expect(stacks.length).toBeGreaterThanOrEqual(400)
      const whole = /^(?:leaf handler )+(?:(?:(?:bare|tiny|room|_init) )?calls )?main _start$/
      expect(stacks.filter((text) => !whole.test(text))).toEqual([])
      for (const name of ['bare', 'room'])
        expect(stacks.some((text) => text.includes(`handler ${name} calls main`))).toBe(true)
    }
  })

  test('a handler that interrupts a jump to another module has a whole stack', async () => {
    compileArm(folder, 'jumps', 'jumps', '-O1', '-fno-optimize-sibling-calls', '-Wl,-z,lazy')
    const { code, stderr, events } = await record('./jumps')
    expect([code, stderr]).toEqual([9, ''])
    // These jumps have no symbols. They follow the function that has this name.
    expect(blocksOf(events, 4243n).map(namesIn(at('jumps')))).toEqual([['leaf', 'handler', '_init', 'main', '_start']])
  })

  eachCompiled('$how: code of no module is passed by its frame pointers', async ({ i }) => {
    const names = namesIn(at(`jit${i}`))
    const { code, stderr, events } = await record(`./jit${i}`)
    expect([code, stderr]).toEqual([0, ''])
    const blocks = blocksOf(events, 4242n)
    expect(blocks).toHaveLength(40)
    const hasPointers = i !== WITHOUT_FRAME_POINTERS
    for (const event of blocks) {
      expect(names(event)).toEqual(['leaf', ...(hasPointers ? ['between', 'outer', 'main', '_start'] : [])])
      expect(event.stack?.filter((text) => text.startsWith('[0x'))).toHaveLength(hasPointers ? 2 : 1)
      expect(event.stack?.includes('[unknown]')).toBe(!hasPointers)
    }
  })

  test('return addresses are signed in qemu', async () => {
    const text =
      'int main(void) { long p = (long)main, q = p; __asm__("pacia %0, %1" : "+r"(q) : "r"(0L)); return p != q ? 7 : 0; }'
    compileText(folder, 'signs', text, '-march=armv8.3-a')
    expect((await run(`${emulator()} ./signs`)).code).toBe(7)
  })

  test('a program of C++ with exceptions has whole stacks', async () => {
    for (const [i, options] of [['-O0'], ['-O2', '-fomit-frame-pointer']].entries()) {
      compileCxx(folder, `cxx${i}`, ...options)
      const counts = await counted(`./cxx${i}`)
      const { code, stderr, events } = await record(`./cxx${i}`)
      expect([code, stderr]).toEqual([5, ''])
      expect(countsOf(events)).toEqual(counts.slice(0, 5))
      const made = blocksOf(events, 777n)
      expect(made).toHaveLength(50)
      const ofProgram = events.filter(({ stack = [] }) => stack.length > 3)
      expect(ofProgram.length).toBeGreaterThan(500)
      expect(ofProgram.filter(({ stack = [] }) => stack.some((text) => text.includes('unknown')))).toEqual([])
    }
  })

  test('modules that are loaded and unloaded have their stacks', async () => {
    compileArm(folder, 'library', 'library.so', '-O2', '-shared', '-fPIC', '-Wl,--build-id')
    compileArm(folder, 'loads', 'loads', '-O1')
    for (const library of ['recorder.so', 'maps.so']) {
      const { code, stderr, events, all } = await record('./loads ./library.so', { library })
      expect([code, stderr]).toEqual([0, ''])
      const blocks = blocksOf(events, 5555n)
      expect(blocks).toHaveLength(10)
      for (const { stack = [] } of blocks) {
        expect(stack[0]).toContain('library.so+')
        expect(stack[1]).toContain(`${at('loads')}+`)
        expect(stack.at(-1)).toContain(`${at('loads')}+`)
      }
      const texts = all.flatMap(({ kind, text = '' }) => (kind === 'comment' ? [text] : []))
      expect(texts.filter((text) => /^unloaded .*library\.so/.test(text))).toHaveLength(10)
    }
  })

  test('threads that pass blocks to each other: each event once, in an order that blocks can have', async () => {
    const { code, stderr, events } = await record('./threads')
    expect([code, stderr]).toEqual([0, ''])
    checkBlocks(events)
    const blocks = numberOf(events, ({ kind, size = 0n }) => kind === 'alloc' && size >= 32n && size < 96n)
    expect(blocks).toBeGreaterThanOrEqual(24 * 4000)
    expect(new Set(events.map(({ thread }) => thread)).size).toBe(25)
    expect(numberOf(events, ({ kind }) => kind === 'thread-destroy')).toBe(24)
    expect(numberOf(events, ({ kind }) => kind === 'lost')).toBe(0)
  })

  test.each([
    ['exit', 5, undefined],
    ['_exit', 6, undefined],
    ['abort', null, 'SIGABRT'],
    ['segv', null, 'SIGSEGV'],
    ['kill', null, 'SIGKILL'],
  ])('a program that ends by %s loses no completed event', async (how, status, signal) => {
    const { code, events, warnings } = await record(`./ends ${how[0]} log 60000`)
    expect(code).toBe(status)
    expect(warnings).toEqual(signal === undefined ? [] : [`recorder: the program was ended by ${signal}`])
    const done = Number(readFileSync(at('log')).readBigUInt64LE(0))
    expect(done).toBeGreaterThan(10)
    const own = events.filter(({ thread }) => thread === events[0]?.thread)
    const [frees, blocks] = [numberOf(own, ({ kind }) => kind === 'free'), blocksOf(own, 4242n).length]
    // The thread may have been within a pair.
    for (const found of [frees, blocks]) expect(found - done === 0 || found - done === 1).toBe(true)
  })

  test('children are processes of the trace, also after exec', async () => {
    compileArm(folder, 'children', 'children', '-O0')
    const { code, stderr, events, all } = await record(`./children ${emulator()} ./children again`)
    expect([code, stderr]).toEqual([4, ''])
    checkBlocks(events)
    const texts = all.flatMap(({ text = '' }) => /^process \d+ is pid \d+, (\w+(?: \w+)* \d)/.exec(text)?.[1] ?? [])
    expect(texts).toEqual(['forked by 1', 'forked by 2', 'started by 1'])
    const of = (process: bigint | undefined) =>
      events.flatMap(({ kind, size, process: own }) =>
        own === process && kind !== 'process-end' ? [`${kind} ${size ?? ''}`.trim()] : [],
      )
    expect(of(2n)).toEqual(['existing 1112', 'free', 'existing 1112', 'realloc 5000', 'alloc 2222', 'free'])
    expect(of(3n)).toEqual(['alloc 3333', 'free'])
    // When a process was started, qemu does not know: after exec it is taken for another one.
    expect(of(4n)).toEqual(expect.arrayContaining(['alloc 1111', 'alloc 7777']))
    const alone = await record(`./children ${emulator()} ./children again`, { flags: '-' })
    expect(new Set(alone.events.map(({ process }) => process))).toEqual(new Set([undefined]))
  })

  test('the reader for arm64 drains the rings, too, and does not attach', async () => {
    compileRecorderForArm(at('reader-arm64'), native('reader.c'), ...RECORDER_READER.options)
    const qemu = emulator()
    await run(
      `${qemu} ./reader-arm64 b.hfrec memory 512 -c & until [ -e memory ]; do sleep 0.01; done; ` +
        `HEAPFLOW_RECORDER=${at('memory')} ${emulator('-E', `LD_PRELOAD=${at('recorder.so')}`)} ./every; wait`,
    )
    const { events, error } = decodeAll(new RecorderDecoder(), new Uint8Array(readFileSync(at('b.hfrec'))))
    expect(error).toBeUndefined()
    const ofCalls = events.filter(({ kind }) => kind !== 'comment' && kind !== 'other')
    expect(countsOf(ofCalls)).toEqual((await counted('./every')).slice(0, 5))
    const { code, stderr } = await run(`${qemu} ./reader-arm64 c.hfrec recorder.so 512 -a 1`)
    expect([code, stderr]).toEqual([
      125,
      'process 1 runs already, which can be recorded on x86-64 only: start it with hf-record\n',
    ])
  })

  const prebuilt = [RECORDER_LIBRARY, RECORDER_READER].map((file) => join(root, 'dist/native', fileName(file, 'arm64')))
  test.skipIf(!prebuilt.every((file) => existsSync(file)))(
    'the library of the package (needs npm run native)',
    async () => {
      copyFileSync(prebuilt[0] ?? '', at('packed.so'))
      const counts = await counted('./every')
      const { code, events } = await record('./every', { library: 'packed.so' })
      expect([code, countsOf(events)]).toEqual([0, counts.slice(0, 5)])
      const chains = await record(`${at('chains1')} notes`, { library: 'packed.so' })
      const names = namesIn(at('chains1'))
      const stacks = chains.events.filter(({ kind, size = 0n }) => kind === 'alloc' && size >= 3000n && size < 3500n)
      expect(stacks.map((event) => names(event).filter((name) => name !== 'next' && name !== 'compare'))).toEqual(
        notedChains(at('notes')).map((chain) => [...chain, 'main', '_start']),
      )
      // Without arguments, it shows by its status that the machine can run it.
      expect((await run(`${emulator()} ${prebuilt[1]}`)).code).toBe(2)
    },
  )
})
