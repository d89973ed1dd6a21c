// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ZSTD_MAGIC } from '../../../lib/compression/magic.js'
import { parseFrame } from '../../../lib/event/frame.js'
import { RecorderDecoder } from '../../../lib/formats/recorder/decode.js'
import type { TraceEvent } from '../../../lib/event/trace-event.js'
import { shell } from '../../support/commands.js'
import { AllocatorSurvey } from '../../../lib/allocators/survey.js'
import { Filter } from '../../../lib/transforms/filter.js'
import { recordingBytes } from '../../support/recording.js'
import { decodeAll, drive } from '../../support/drive.js'
import { checkBlocks, COUNTER, HEADERS, PROGRAMS } from './own-programs.js'
import { can, compileRecorder } from './programs.js'

const folder = mkdtempSync(join(tmpdir(), 'heapflow-own-'))
const native = (name: string) => fileURLToPath(new URL(`../../../native/recorder/${name}`, import.meta.url))
const at = (name: string) => join(folder, name)

/** How often a program is ended in each way, at a random moment. */
const ENDINGS = Number(process.env['HEAPFLOW_ENDINGS'] ?? 2)

const canRecord = can('recorder')
const hasLibrary = /\blibzstd\.so\.1\b/.test(spawnSync('/sbin/ldconfig', ['-p']).stdout?.toString() ?? '')

function compile(name: keyof typeof PROGRAMS, ...options: string[]): void {
  writeFileSync(at(`${name}.c`), `#define _GNU_SOURCE\n${HEADERS}${PROGRAMS[name]}`)
  execFileSync('cc', ['-w', '-pthread', ...options, '-o', at(name), at(`${name}.c`)])
}

const run = (line: string) => shell(`cd ${folder}; export XDG_CACHE_HOME=${folder}/cache PERL_HASH_SEED=0; ${line}`)

function eventsOf(name: string): { events: TraceEvent[]; all: TraceEvent[]; warnings: readonly string[] } {
  const decoder = new RecorderDecoder()
  const { events, error } = decodeAll(decoder, recordingBytes(at(name)))
  expect(error).toBeUndefined()
  // Modules are comments, and resident bytes are others.
  const ofCalls = events.filter(({ kind }) => kind !== 'comment' && kind !== 'other')
  return { events: ofCalls, all: events, warnings: decoder.warnings }
}

/** The function that gives the names of the frames of an event in a program. */
function namesIn(program: string): (event: TraceEvent) => (string | undefined)[] {
  const symbols = execFileSync('nm', [at(program)], { encoding: 'utf8' })
  const starts = symbols.split('\n').flatMap((line) => /^([\da-f]+) [tT] (\w+)$/.exec(line)?.slice(1, 3) ?? [])
  const functions = Array.from({ length: starts.length / 2 }, (_, i) => ({
    start: BigInt(`0x${starts[2 * i]}`),
    name: starts[2 * i + 1],
  })).toSorted((a, b) => Number(a.start - b.start))
  return ({ stack = [] }) =>
    stack.flatMap((text) => {
      const { module, offset } = parseFrame(text)
      if (module !== at(program)) return []
      return [functions.findLast(({ start }) => start <= (offset as bigint))?.name]
    })
}

describe.skipIf(!canRecord)("heapflow's own recorder (needs Linux on x86-64 or arm64, and cc)", () => {
  beforeAll(() => {
    writeFileSync(at('counter.c'), `#define _GNU_SOURCE\n${HEADERS}${COUNTER}`)
    execFileSync('cc', ['-w', '-O1', '-shared', '-fPIC', '-o', at('counter.so'), at('counter.c')])
    compile('every', '-O1')
    compile('ends', '-O0')
    compile('threads', '-O1')
    compile('churn', '-O0')
    compile('crowd', '-O0')
    compile('burst', '-O0')
    compile('late', '-O1')
    compile('clocked', '-O1')
    compile('forks', '-O0')
    compile('daemon', '-O0')
    compile('full', '-O0')
    compile('stacks', '-O1', '-fomit-frame-pointer', '-fno-optimize-sibling-calls')
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  // bash may take a socket as its standard input for a login from elsewhere, and read the user's settings.
  const programs = [
    './every',
    "bash --norc -c 'for i in {1..300}; do x=$x$i; done'",
    "perl -e '$h{$_} = [1..9] for 1..2000'",
  ]
  test.each(programs)('the calls of %s are those of an independent count', async (program) => {
    const tool = /(?<![./\w])(?:bash|perl)\b/.exec(program)?.[0]
    if (tool !== undefined && spawnSync(tool, ['--version']).error !== undefined) return
    const fixed = spawnSync('setarch', ['-R', 'true']).status === 0 ? 'setarch -R' : ''
    // The environment has the same variables in both runs.
    await run(`COUNTS=${at('counts')} HEAPFLOW_RECORDER=x LD_PRELOAD=${at('counter.so')} ${fixed} ${program}`)
    const [malloc, calloc, memalign, realloc, free, sum] = readFileSync(at('counts'), 'utf8').split(' ').map(BigInt)
    await run(`COUNTS=x ${fixed} hf-record --no-children -o counted.hfrec -- ${program}`)
    const { events } = eventsOf('counted.hfrec')
    checkBlocks(events)
    const count = (is: (event: TraceEvent) => boolean) => BigInt(events.filter(is).length)
    const counts = {
      malloc: count(({ api }) => api === 'malloc'),
      calloc: count(({ api }) => api === 'calloc'),
      memalign: count(({ api }) => api === 'memalign'),
      realloc: count(({ kind, api }) => api === 'realloc' && kind !== 'free'),
      free: count(({ api }) => api === 'free'),
    }
    expect(counts).toEqual({ malloc, calloc, memalign, realloc, free })
    if (fixed === '' || program !== './every') return
    // Blocks are where they are without the recorder.
    const found = events.reduce(
      (all, { kind, address = 0n }) =>
        kind === 'free' || address >> 40n >= 0x60n ? all : BigInt.asUintN(64, all * 31n + address),
      0n,
    )
    expect(found).toBe(sum)
  })

  test.each([
    ['exit', 5, undefined],
    ['_exit', 6, undefined],
    ['abort', 134, 'SIGABRT'],
    ['segv', 139, 'SIGSEGV'],
    ['term', 143, 'SIGTERM'],
    ['kill', 137, 'SIGKILL'],
    ['overflow of its stack', 139, 'SIGSEGV'],
    ['memory that is not there', 139, 'SIGSEGV'],
  ])('a program that ends by %s loses no completed event', async (how, status, signal) => {
    for (let i = 0; i < ENDINGS; i++) {
      const delay = 2000 + Math.floor(Math.random() * 6000)
      const { code, stderr } = await run(`hf-record -o ends.hfrec -- ./ends ${how[0]} log ${delay}`)
      expect(code).toBe(status)
      expect(stderr).toBe(
        signal === undefined ? '' : `hf-record: warning: recorder: the program was ended by ${signal}\n`,
      )
      const { events, warnings } = eventsOf('ends.hfrec')
      expect(warnings).toEqual(signal === undefined ? [] : [`recorder: the program was ended by ${signal}`])
      const done = Number(readFileSync(at('log')).readBigUInt64LE(0))
      expect(done).toBeGreaterThan(10)
      const own = events.filter(({ thread }) => thread === events[0]?.thread)
      const frees = own.filter(({ kind }) => kind === 'free').length
      const blocks = own.filter(({ kind, size }) => kind === 'alloc' && size === 4242n).length
      // The thread may have been within a pair.
      expect(frees - done === 0 || frees - done === 1).toBe(true)
      expect(blocks - done === 0 || blocks - done === 1).toBe(true)
    }
  })

  test('compresses with gzip at a fast level', async () => {
    expect(
      (await run('hf-record -o fast.ndjson.gz -- ./every && hf-convert fast.ndjson.gz small.ndjson.gz')).code,
    ).toBe(0)
    expect((await run('zcat small.ndjson.gz > small && zcat fast.ndjson.gz | cmp - small')).code).toBe(0)
    const [fast, small] = ['fast', 'small'].map((name) => statSync(at(`${name}.ndjson.gz`)).size)
    expect(fast).toBeGreaterThan(small)
  })

  test('writes compact traces as compact-encode --fast does', async () => {
    const { code, stderr } = await run('hf-record -o fast.hfc -- ./every')
    expect([code, stderr]).toEqual([
      0,
      'hf-record: note: fast.hfc was written fast; hf-convert makes a smaller file of it\n',
    ])
    expect((await run('compact-encode --fast fast.hfc | cmp - fast.hfc')).code).toBe(0)
    expect((await run('compact-encode --best fast.hfc | cmp - fast.hfc')).code).toBe(1)
    expect(await run('hf-record --best -o best.hfc -- ./every')).toMatchObject({ code: 0, stderr: '' })
    expect((await run('compact-encode --best best.hfc | cmp - best.hfc')).code).toBe(0)
    for (const name of ['best.hfrec', 'best.ndjson'])
      expect(await run(`hf-record --best -o ${name} -- ./every`)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--best is for compact traces: -o FILE.hfc') as string,
      })
  })

  test('threads that pass blocks to each other: each event once, in an order that blocks can have', async () => {
    await run('hf-record -o threads.hfrec -- ./threads')
    const { events } = eventsOf('threads.hfrec')
    checkBlocks(events)
    const blocks = events.filter(
      ({ kind, size }) => kind === 'alloc' && (size as bigint) < 96n && (size as bigint) >= 32n,
    )
    expect(blocks.length).toBeGreaterThanOrEqual(24 * 4000)
    const times = events.map(({ time }) => time as bigint)
    expect(times.every((time, i) => i === 0 || time >= times[i - 1])).toBe(true)
    expect(new Set(events.map(({ thread }) => thread)).size).toBe(25)
    expect(events.filter(({ kind }) => kind === 'thread-destroy')).toHaveLength(24)
    expect(events.some(({ kind }) => kind === 'lost')).toBe(false)
  })

  test('rings of threads that have ended are those of others', async () => {
    await run('hf-record -o churn.hfrec -- ./churn')
    const { events } = eventsOf('churn.hfrec')
    checkBlocks(events)
    expect(events.filter(({ size }) => size === 777n)).toHaveLength(3600)
    expect(events.filter(({ kind }) => kind === 'thread-destroy')).toHaveLength(1200)
    expect(events.some(({ kind }) => kind === 'lost')).toBe(false)
  })

  /** How many events a recording has lost, and how many blocks it has of 777 bytes. */
  const lossesOf = (name: string) => {
    const { events } = eventsOf(name)
    const lost = events.reduce((sum, { kind, count = 0n }) => (kind === 'lost' ? sum + count : sum), 0n)
    return { lost, blocks: events.filter(({ kind, size }) => kind === 'alloc' && size === 777n).length }
  }

  test('more threads at once than most programs have are recorded', async () => {
    expect(await run('hf-record -o crowd.hfrec -- ./crowd 1200')).toMatchObject({ code: 0, stderr: '' })
    expect(lossesOf('crowd.hfrec')).toEqual({ lost: 0n, blocks: 6000 })
  })

  test('events of threads without a ring, and those that are dropped, are counted', async () => {
    const crowd = await run("hf-record -o few.hfrec -- sh -c 'ulimit -v 400000; ./crowd 300; exit $?'")
    const few = lossesOf('few.hfrec')
    expect(few.blocks).toBeGreaterThan(300)
    expect(few.lost).toBeGreaterThan(1000)
    const reason = 'more threads ran at once than there is room for'
    expect(crowd).toMatchObject({ code: 0, stderr: `heapflow: ${few.lost} events were lost: ${reason}\n` })
    const { stdout, stderr } = await run('hf-stats --section summary few.hfrec')
    expect(stdout.toString()).toContain(`${few.lost.toLocaleString('en-US')} events, in `)
    expect(stderr).toContain(`the recorder lost ${few.lost} events in `)
    const burst = await run('hf-record --drop -o burst.hfrec -- ./burst')
    const dropped = lossesOf('burst.hfrec').lost
    expect(dropped).toBeGreaterThan(1000)
    expect(burst.stderr).toBe(
      `heapflow: ${dropped} events were lost: they came faster than they could be written (--drop)\n`,
    )
  })

  test('where the size of files and the address space are limited, there are fewer rings', async () => {
    // The superuser may raise the limit.
    const drop = process.getuid?.() === 0 ? 'setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource' : ''
    for (const limit of ['-f 200000', '-S -f 5000'])
      expect(await run(`${drop} bash -c 'ulimit ${limit}; hf-record -o size.hfrec -- ./threads'`)).toMatchObject({
        code: 0,
        stderr: '',
      })
    expect(new Set(eventsOf('size.hfrec').events.map(({ thread }) => thread)).size).toBe(25)
    const words = `${drop} bash -c 'ulimit -f 2000; hf-record`
    const reason = 'no shared memory for the recording: the limit of the size of files (ulimit -f) is too low\n'
    expect(await run(`${words} -o small.hfrec -- ./threads'`)).toMatchObject({
      code: 1,
      stderr: `hf-record: the program was not started: ${reason}`,
    })
    expect(existsSync(at('small.hfrec')) || existsSync(at('small.hfrec.partial'))).toBe(false)
    expect(await run(`${words} -- ./threads'`)).toMatchObject({
      code: 1,
      stderr: `heapflow: ${reason}hf-record: nothing was recorded: a fault ended the recorder\n`,
    })
    const space = await run("hf-record -o space.hfrec -- sh -c 'ulimit -v 100000; ./daemon; true'")
    expect(space).toMatchObject({ code: 0, stderr: '' })
    expect(eventsOf('space.hfrec').events.map(({ size }) => size)).toContain(5000n)
    // A program that limits itself has what it would have without the recorder.
    const own = await run("hf-record -o space.hfrec -- bash -c 'ulimit -v 100000; echo {1..20000} | wc -w'")
    expect({ ...own, stdout: own.stdout.toString() }).toMatchObject({ code: 0, stdout: '20000\n', stderr: '' })
    const none = await run("hf-record -o space.hfrec -- sh -c 'ulimit -v 5000; ./daemon; true'")
    expect(none.stderr).toBe('heapflow: 1 process was not recorded: there was no address space for it (ulimit -v)\n')
  })

  test('times are those of the system: each is between those that the program reads before and after', async () => {
    await run('hf-record -o clocked.hfrec -- ./clocked')
    const noted = new BigUint64Array(new Uint8Array(readFileSync(at('times'))).buffer)
    const { events } = eventsOf('clocked.hfrec')
    const blocks = events.filter(({ size = 0n }) => size >= 7000n && size < 7300n)
    expect(blocks).toHaveLength(300)
    // The reader reads the clock and the processor's counter one after the other, and may be interrupted in between.
    const slack = 100_000n
    for (const { size = 0n, time = 0n } of blocks) {
      const at = 2 * (Number(size) - 7000)
      expect(time).toBeGreaterThanOrEqual(noted[at]! - slack)
      expect(time).toBeLessThanOrEqual(noted[at + 1]! + slack)
    }
  })

  test('the file is compressed where the machine has libzstd, and has the same events', async () => {
    // No library has these bytes, so that what is found first cannot be loaded.
    mkdirSync(at('without'))
    writeFileSync(at('without/libzstd.so.1'), 'none')
    await run('hf-record -o packed.hfrec -- ./every')
    await run('LD_LIBRARY_PATH=$PWD/without hf-record -o plain.hfrec -- ./every')
    const [packed, plain] = ['packed.hfrec', 'plain.hfrec'].map((name) => readFileSync(at(name)))
    expect(plain!.subarray(1, 6).toString()).toBe('HFREC')
    expect(ZSTD_MAGIC.every((byte, i) => packed![i] === byte)).toBe(hasLibrary)
    if (hasLibrary) expect(packed!.length).toBeLessThan(plain!.length)
    const calls = (name: string) => eventsOf(name).events.map(({ kind, size }) => [kind, size])
    expect(calls('packed.hfrec')).toEqual(calls('plain.hfrec'))
  })

  test('with the ends of threads, nearly all addresses follow from the calls', async () => {
    await run('hf-record --no-stacks -o late.hfrec -- ./late')
    const { batches } = decodeAll(new RecorderDecoder(), recordingBytes(at('late.hfrec')))
    const survey = new AllocatorSurvey()
    for (const batch of batches) survey.add(batch)
    const { blocks, predicted } = survey.finish()
    expect(blocks).toBeGreaterThan(150_000)
    expect(predicted / blocks).toBeGreaterThan(0.999)
    // Without them, the arenas and caches of later threads are not known.
    const without = new AllocatorSurvey()
    for (const batch of batches)
      without.add(drive(new Filter({ kind: 'thread-destroy', invert: true }), [batch]).out[0]!)
    expect(without.finish().predicted / blocks).toBeLessThan(0.9)
  })

  test('stacks are whole without frame pointers, and through signal handlers', async () => {
    await run('hf-record -o stacks.hfrec -- ./stacks')
    const { events } = eventsOf('stacks.hfrec')
    const names = namesIn('stacks')
    const deep = events.filter(({ size }) => size === 4242n).map(names)
    expect(deep).toHaveLength(50)
    deep.forEach((stack, i) => {
      expect(stack.slice(0, i + 3)).toEqual(['leaf', ...Array.from({ length: i + 1 }, () => 'deep'), 'main'])
      expect(stack.at(-1)).toBe('_start')
    })
    const [handled] = events.filter(({ size }) => size === 4243n).map(names)
    expect(handled).toEqual(['leaf', 'handler', 'main', '_start'])
    await run('hf-record --with recorder --stack-depth 2 -o two.ndjson -- ./stacks')
    const lines = readFileSync(at('two.ndjson'), 'utf8').split('\n')
    expect(lines.filter((line) => line.includes('"size":4242') && line.includes('"[unknown]"'))).toHaveLength(50)
    await run('hf-record --stack-depth 1 -o one.hfrec -- ./stacks')
    const innermost = eventsOf('one.hfrec').events.filter(({ size }) => size === 4242n)
    expect(innermost.map(names)).toEqual(Array.from({ length: 50 }, () => ['leaf']))
    for (const option of ['--stack-depth 0', '--no-stacks']) {
      await run(`hf-record ${option} -o none.hfrec -- ./stacks`)
      expect(eventsOf('none.hfrec').events.some(({ stack }) => stack !== undefined)).toBe(false)
    }
    await run('hf-record --free-stacks -o frees.hfrec -- ./every')
    const frees = eventsOf('frees.hfrec').events.filter(({ kind, api }) => kind === 'free' && api === 'free')
    expect(frees.length).toBeGreaterThan(10_000)
    expect(frees.every(({ stack = [] }) => stack.some((text) => text.includes(at('every'))))).toBe(true)
  })

  test('a stack of makecontext ends in the function of libc that it returns to', async () => {
    compile('contexts', '-O1', '-fno-optimize-sibling-calls')
    await run('hf-record -o contexts.hfrec -- ./contexts')
    const { events } = eventsOf('contexts.hfrec')
    for (const size of [4300n, 4301n]) {
      const [event] = events.filter((one) => one.size === size)
      expect(namesIn('contexts')(event)).toEqual(['leaf', 'body'])
      expect(event.stack).toHaveLength(3)
      const { module, offset = 1n } = parseFrame(event.stack?.[2] ?? '')
      // Functions begin at multiples of 16.
      expect([module, offset % 16n]).toEqual([expect.stringContaining('libc.so'), 0n])
    }
  })

  test.skipIf(process.arch !== 'x64')('stacks go on in code of Go, which has called C on another stack', async () => {
    compile('goroutine', '-O1')
    await run('hf-record -o goroutine.hfrec -- ./goroutine')
    const blocks = eventsOf('goroutine.hfrec').events.filter(({ size }) => size === 4244n)
    const names = ['in_c', 'go_call', 'go_deep', 'go_main', 'go_start']
    expect(blocks.map(namesIn('goroutine'))).toEqual([names, names, names])
    expect(blocks.map(({ stack }) => stack?.length)).toEqual([5, 5, 5])
  })

  test('children have their parents also where these have ended, or are other programs, before they are seen', async () => {
    // Many at once keep the reader from looking in between.
    for (let round = 0; round < 4; round++) {
      const names = Array.from({ length: 8 }, (_, i) => `crowd${i}.hfrec`)
      await Promise.all(names.map((name) => run(`hf-record -o ${name} -- ./forks`)))
      for (const name of names) {
        const texts = eventsOf(name).all.map(({ text = '' }) => /^process \d+ is pid \d+, (\w+ by \d+)/.exec(text)?.[1])
        expect(texts.filter((text) => text !== undefined)).toEqual([
          'forked by 1',
          'forked by 2',
          'started by 1',
          'started by 1',
        ])
      }
    }
  })

  test('children are processes of the trace, and what they have from their parents is live there', async () => {
    const { code } = await run('hf-record -o forks.hfrec -- ./forks')
    expect(code).toBe(0)
    const { events, all } = eventsOf('forks.hfrec')
    checkBlocks(events)
    const texts = all.flatMap(({ kind, text = '' }) => (kind === 'comment' ? [text] : []))
    const pid = /^process \d+ is pid \d+, (.*)$/
    expect(texts.flatMap((text) => pid.exec(text)?.slice(1) ?? [])).toEqual([
      'forked by 1: ./forks',
      'forked by 2: ./forks',
      'started by 1: ./forks spawned',
      'started by 1: ./forks after vfork',
      'in place of 1: ./forks by exec',
    ])
    expect(
      texts.filter((text) => text === `module ${/ (0x\S+ \S+) .*forks$/.exec(text)?.[1]} ${at('forks')}`),
    ).toHaveLength(1)
    expect(texts).toContain('thread worker')
    const of = (process: bigint | undefined) =>
      events.flatMap(({ kind, size, process: own }) =>
        own === process && kind !== 'process-end' ? [`${kind} ${size ?? ''}`.trim()] : [],
      )
    // The trace ends with the last one.
    const ends = events.flatMap(({ kind, process = 1n }) => (kind === 'process-end' ? [process] : []))
    expect(ends.toSorted()).toEqual([1n, 2n, 3n, 4n, 5n])
    expect(ends.at(-1)).toBe(1n)
    expect(of(undefined).slice(-3)).toEqual(['free', 'free', 'free'])
    for (const process of [1n, 2n, 3n, 4n, 5n])
      expect(events.findLast(({ process: own = 1n }) => own === process)?.kind).toBe('process-end')
    const worker = events.find(({ size }) => size === 4444n)?.thread
    expect(events.filter(({ thread }) => thread === worker).at(-1)?.kind).toBe('thread-destroy')
    expect(events.filter(({ kind }) => kind === 'thread-destroy')).toHaveLength(1)
    expect(of(2n).filter((text) => !text.includes('1024'))).toEqual([
      'existing 1112',
      'free',
      'existing 1112',
      'realloc 5000',
      'alloc 2222',
      'free',
    ])
    expect(of(3n)).toEqual(['existing 1128', 'free', 'alloc 3333', 'free'])
    expect(of(4n)).toEqual(of(6n))
    expect(of(undefined)).toEqual(expect.arrayContaining(['alloc 1111', 'alloc 4444']))
    await run('hf-record --no-children -o alone.hfrec -- ./forks')
    const alone = eventsOf('alone.hfrec').events
    expect(new Set(alone.map(({ process }) => process))).toEqual(new Set([undefined, 2n]))
    expect(alone.some(({ size }) => size === 3333n)).toBe(false)
    const { stdout } = await run('hf-verify forks.hfrec 2>&1; hf-filter --process 4 forks.hfrec | hf-stats --json')
    expect(stdout.toString()).toMatch(/no faults/)
  })

  test('many processes at once, and a child that outlives the program', async () => {
    await run("hf-record -o many.hfrec -- bash --norc -c 'for i in {1..12}; do (./every & ./forks &); done; wait'")
    const { events, all } = eventsOf('many.hfrec')
    checkBlocks(events)
    expect(all.filter(({ text = '' }) => text.includes(': ./every'))).toHaveLength(12)
    expect(events.filter(({ kind, size }) => kind === 'existing' && size === 1128n)).toHaveLength(12)
    const { code } = await run('hf-record -o daemon.hfrec -- ./daemon')
    expect(code).toBe(4)
    expect(eventsOf('daemon.hfrec').events.map(({ size }) => size)).toContain(6000n)
  })

  test('where no file can be opened, forked processes and new threads are recorded with whole stacks', async () => {
    expect(await run('hf-record -o full.hfrec -- ./full')).toMatchObject({ code: 5, stderr: '' })
    const { events, all } = eventsOf('full.hfrec')
    const known = events.filter(({ size }) => [1111n, 2222n, 3333n].includes(size ?? 0n))
    expect(known.map(({ size, process }) => [size, process])).toEqual([
      [1111n, undefined],
      [2222n, 2n],
      [2222n, 3n],
      [3333n, undefined],
    ])
    // With an older glibc, modules are found by the list of mappings, which a forked process reads again.
    const usesList = process.env['CC']?.includes('WITHOUT_FIND_OBJECT') === true
    for (const { stack = [] } of usesList ? known.filter((event) => event.process === undefined) : known) {
      expect(stack.some((text) => text.startsWith(`in ${realpathSync(at('full'))}+`))).toBe(true)
      expect(stack).not.toContain('[unknown]')
    }
    const named = all.flatMap(({ text = '' }) => (/forked by 1: (.*)/.exec(text) ?? []).slice(1))
    expect(named).toEqual(['./full', './full'])
  })

  test('a program that becomes another one is another process; one that is not there has the status of shells', async () => {
    const { stdout } = await run(
      "hf-record --with recorder -- bash --norc -c 'exec ./every' | grep -o 'process 2 is.*, in.*'",
    )
    expect(stdout.toString()).toBe(
      'process 2 is pid 1, in place of 1: ./every"}\n'.replace('pid 1', /pid \d+/.exec(stdout.toString())?.[0] ?? ''),
    )
    const { code, stderr } = await run('hf-record -o missing.hfrec -- ./missing')
    expect([code, stderr.split('\n')[0]]).toEqual([127, 'hf-record: ./missing: no such program'])
    expect(existsSync(at('missing.hfrec'))).toBe(false)
    expect(existsSync(at('missing.hfrec.partial'))).toBe(false)
    expect((await run('hf-record --with glibc --drop -- ./every')).stderr).toContain('--drop needs --with recorder')
    expect((await run('hf-record --stack-depth x --with recorder -- ./every')).code).toBe(2)
  })

  test('a program that is linked with another allocator gets the blocks of libc, and their sizes', async () => {
    const other = `#include <stdlib.h>
      void *malloc(size_t size) { (void)size; abort(); }
      void *calloc(size_t count, size_t size) { (void)count, (void)size; abort(); }
      void *realloc(void *block, size_t size) { (void)block, (void)size; abort(); }
      void free(void *block) { (void)block; abort(); }
      size_t malloc_usable_size(void *block) { (void)block; abort(); }
      void *_Znwm(size_t size) { return NULL; }`
    const user = `${HEADERS}
      int main(void) {
        char *block = malloc(100);
        size_t size = malloc_usable_size(block);
        if (size < 100 || size > 200 || malloc_usable_size(NULL) != 0) return 1;
        memset(block, 1, size);
        free(realloc(block, 300));
      }`
    writeFileSync(at('other.c'), other)
    writeFileSync(at('user.c'), user)
    execFileSync('cc', ['-w', '-shared', '-fPIC', '-o', at('libother.so'), at('other.c')])
    const rpath = ['-Wl,--no-as-needed', '-L', folder, '-lother', `-Wl,-rpath,${folder}`]
    execFileSync('cc', ['-w', '-O0', '-o', at('user'), at('user.c'), ...rpath])
    expect(await run('hf-record -o user.hfrec -- ./user')).toMatchObject({ code: 0, stderr: '' })
    const { events } = eventsOf('user.hfrec')
    expect(events.some(({ size, usable = 0n }) => size === 100n && usable >= 100n && usable <= 200n)).toBe(true)
    // Its operators of C++ are its own.
    writeFileSync(
      at('caller.c'),
      `${HEADERS}void *_Znwm(size_t size); int main(void) { return _Znwm(5) != malloc(0); }`,
    )
    execFileSync('cc', ['-w', '-O0', '-o', at('caller'), at('caller.c'), ...rpath])
    // Another program has the same under a shorter name.
    execFileSync('cc', ['-w', '-shared', '-fPIC', '-o', at('libo.so'), at('other.c')])
    execFileSync('cc', ['-w', '-O0', '-o', at('next'), at('caller.c'), ...rpath.with(3, '-lo')])
    expect((await run("hf-record -o user.hfrec -- sh -c './caller; ./next'")).stderr).toBe(
      'heapflow: operator new and delete of libother.so are not recorded: ' +
        'LD_PRELOAD=libstdc++.so.6 makes the program use others\n',
    )
  })

  test('what a program writes over its ring is no stack that the reader has no room for', () => {
    writeFileSync(
      at('ring.c'),
      `#define _GNU_SOURCE
      #include "${native('pack.h')}"
      int main(void) {
        static struct process p;
        static const uint64_t fresh[MAX_DEPTH] = { 1, 2, 3 };
        if (!pack_open("/dev/null", 0)) return 1;
        pack_stack(&p, 0, 0, fresh, 2);
        pack_stack(&p, 0, 65535, fresh, 3);
        if (p.depths[0] != 5) return 2;
        pack_stack(&p, 0, 65535, fresh, MAX_DEPTH);
        return p.depths[0] == MAX_DEPTH + 1 ? 0 : 3;
      }`,
    )
    expect(compileRecorder('-w', '-O1', '-o', at('ring'), at('ring.c'))).toBe(true)
    expect(spawnSync(at('ring'), { timeout: 10_000 }).status).toBe(0)
  })

  test('walks that use the walk before them are those that do not', { tags: ['large'] }, async () => {
    const shared = ['-std=gnu11', '-O2', '-shared', '-fPIC', '-fno-omit-frame-pointer', '-fvisibility=hidden']
    expect(compileRecorder('-O1', '-o', at('reader'), native('reader.c'))).toBe(true)
    const traces: unknown[] = []
    for (const define of ['USUAL', 'WHOLE_WALKS']) {
      expect(compileRecorder(...shared, `-D${define}`, '-o', at('walks.so'), native('recorder.c'))).toBe(true)
      const program =
        "bash --norc -c 'f() { [ $1 = 0 ] || f $(($1 - 1)); x=$x$1; }; for i in {1..40}; do f $((i % 9)); done'"
      await run(`./reader walks.hfrec ./walks.so 512 - ${program}`)
      // Modules are elsewhere in each run.
      traces.push(
        eventsOf('walks.hfrec').events.map(({ kind, size, stack }) => [
          kind,
          size,
          stack?.map((text) => text.replace(/ \[0x.*/, '')),
        ]),
      )
    }
    expect(traces[0]).toEqual(traces[1])
    expect((traces[0] as unknown[]).length).toBeGreaterThan(1000)
  })

  test('the reader has no fault that sanitizers find, and the sources no warning', { tags: ['large'] }, async () => {
    const strict = ['-std=gnu11', '-O1', '-g', '-Wall', '-Wextra', '-Werror']
    const sanitizers = ['-fsanitize=address,undefined', '-fno-sanitize-recover=all']
    const library = at('strict.so')
    const shared = ['-shared', '-fPIC', '-fno-omit-frame-pointer', '-fvisibility=hidden']
    expect(compileRecorder(...strict, ...shared, '-o', library, native('recorder.c'))).toBe(true)
    const reader = ['-o', at('reader'), native('reader.c')]
    expect(compileRecorder(...strict, ...sanitizers, ...reader) || compileRecorder(...strict, ...reader)).toBe(true)
    for (const program of ['./threads', './stacks', './every', './forks']) {
      const { code, stderr } = await run(`ASAN_OPTIONS=detect_leaks=0 ./reader a.hfrec ${library} 512 -cf ${program}`)
      expect([code, stderr]).toEqual([0, ''])
      checkBlocks(eventsOf('a.hfrec').events)
    }
  })
})
