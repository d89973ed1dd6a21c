// @module-tag slow
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { RecorderName } from '../../../lib/streams/record/names.js'
import { can, folder, rowsOf, run, type Row, sizesOf, started, testWith, usePrograms } from './programs.js'

usePrograms('leaks', 'aligns', 'threads', 'forks', 'killed', 'waits', 'outlives', 'silent', 'counts')

describe.each<RecorderName>(['heaptrack', 'glibc', 'valgrind', 'ltrace'])('with %s', (name) => {
  const it = testWith(name)

  it('the events of a program come out, its own output goes to standard error, and its status is that of the command', async () => {
    const { code, stdout, stderr } = await run(`hf-record --with ${name} -- ./leaks`)
    expect(code).toBe(3)
    expect(stderr).toContain('to standard output\n')
    const rows = rowsOf(stdout)
    expect(rows.at(0)?.kind).toBe('header')
    expect(rows.at(-1)).toEqual({ kind: 'end', events: rows.length - 2 })
    expect(sizesOf(rows)).toEqual(expect.arrayContaining([1000, 2000, 3000]))
    const stats = await run(`hf-record --with ${name} -o leaks.ndjson -- ./leaks; hf-stats --json leaks.ndjson`)
    expect(stats.stdout.toString()).toMatch(/^to standard output\n/)
    const { leaked } = JSON.parse(stats.stdout.toString().slice('to standard output\n'.length)) as {
      leaked: { bytes: number }
    }
    expect(leaked.bytes).toBeGreaterThanOrEqual(3000)
  })

  // ltrace misses most calls that threads make at the same time.
  test.skipIf(!can(name) || name === 'ltrace')('eight threads are recorded', async () => {
    const rows = rowsOf((await run(`hf-record --with ${name} -- ./threads`)).stdout)
    const sizes = sizesOf(rows).filter((size) => size !== undefined && size >= 7000 && size < 8000)
    expect(sizes).toHaveLength(8000)
  })

  it('a program that was killed leaves a trace that is truncated', async () => {
    const { code, stderr, stdout } = await run(`hf-record --with ${name} -- ./killed | hf-stats --json`)
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/^hf-record: .*truncated: the program was ended by SIGKILL$/m)
    expect(JSON.parse(stdout.toString())).toMatchObject({ complete: false })
    const alone = await run(`hf-record --with ${name} -o killed.ndjson -- ./killed`)
    expect(alone.code).toBe(137)
    expect(existsSync(join(folder, 'killed.ndjson'))).toBe(false)
    const rows = rowsOf(readFileSync(join(folder, 'killed.ndjson.partial')))
    expect(sizesOf(rows).filter((size) => size === 5000).length).toBeGreaterThan(500)
    expect(rows.at(-1)?.kind).not.toBe('end')
  })

  it('a program that cannot be started has the status of shells', async () => {
    const { code, stderr } = await run(`hf-record --with ${name} -- ./nothing-here`)
    expect(stderr).toMatch(/^hf-record: /m)
    if (name === 'glibc' || name === 'heaptrack') {
      expect([code, stderr]).toEqual([127, 'hf-record: ./nothing-here: no such program\n'])
      expect(await run(`hf-record --with ${name} -- ./leaks.c`)).toMatchObject({ code: 126 })
    } else expect(code).not.toBe(0)
  })

  it('a signal goes to the program, which decides what comes of it', async () => {
    const child = await started(`hf-record --with ${name} -o waits.ndjson -- ./waits`)
    await sleep(100)
    child.kill('SIGTERM')
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
    expect([code, signal]).toEqual([55, null])
    expect(sizesOf(rowsOf(readFileSync(join(folder, 'waits.ndjson'))))).toContain(5000)
  })

  it('a program that forks runs as it would alone', async () => {
    const { code, stdout, stderr } = await run(`hf-record --with ${name} -- ./forks`)
    expect(code).toBe(3)
    const rows = rowsOf(stdout)
    const own = rows.filter(({ size }) => size === 1111 || size === 3333)
    const children = rows.filter(({ size }) => size === 2222)
    expect(sizesOf(own)).toEqual([1111, 3333])
    if (name === 'heaptrack' || name === 'glibc') {
      expect(children).toEqual([])
      const notice = 'hf-record: warning: only the program itself was recorded, not the processes that it forked\n'
      expect(stderr).toBe(name === 'glibc' ? notice : '')
    } else {
      expect(children).toHaveLength(50)
      const processes = new Set(own.map(({ process }) => process))
      expect([...processes]).toHaveLength(1)
      const [child, ...others] = new Set(children.map(({ process }) => process))
      expect(others).toEqual([])
      expect(processes).not.toContain(child)
    }
  })

  it('a child may end after the program, whose status counts', async () => {
    const { code, stdout } = await run(`hf-record --with ${name} -- ./outlives`)
    expect(code).toBe(3)
    const rows = rowsOf(stdout)
    expect(sizesOf(rows)).toContain(5000)
    expect(sizesOf(rows).includes(6000)).toBe(name === 'valgrind' || name === 'ltrace')
    expect(rows.at(-1)?.kind).toBe('end')
  })

  it('statistics come while the program runs', async () => {
    const { code, stdout } = await run(`hf-record --with ${name} -- ./counts | hf-stats --every 1 --json`)
    expect(code).toBe(0)
    const lines = stdout.toString().trim().split('\n')
    expect(lines.length).toBeGreaterThan(1)
    expect(JSON.parse(lines.at(-1) as string)).toMatchObject({ complete: true })
  })
})

describe('with perf', () => {
  testWith('perf')('the kernel is recorded, and the program runs as it would alone', async () => {
    const { code, stdout, stderr } = await run('hf-record --with perf -o kernel.ndjson -- ./leaks')
    expect([code, stdout.toString()]).toEqual([3, 'to standard output\n'])
    expect(stderr).not.toContain('truncated')
    const rows = rowsOf(readFileSync(join(folder, 'kernel.ndjson')))
    expect(rows.filter(({ kind }) => kind === 'alloc').length).toBeGreaterThan(10)
    expect(rows.at(-1)?.kind).toBe('end')
  })

  testWith('perf')('a program that was killed leaves a trace that is truncated', async () => {
    const { code, stderr } = await run('hf-record --with perf -- ./killed')
    expect(code).toBe(137)
    expect(stderr).toContain('truncated: the program was ended by SIGKILL')
  })

  testWith('perf')('a signal goes to the program', async () => {
    const child = await started('hf-record --with perf -o kernel2.ndjson -- ./waits')
    await sleep(100)
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([55, null])
  })
})

testWith('ltrace')('aligned blocks are recorded with ltrace, too', async () => {
  const { stdout } = await run('hf-record --with ltrace -- ./aligns')
  const rows = rowsOf(stdout)
  const blocks = rows.filter(({ size = 0 }) => size >= 6400 && size <= 6401)
  expect(blocks.map(({ size }) => size)).toEqual([6400, 6401])
  const freed = rows.flatMap(({ kind, address }) => (kind === 'free' ? [address] : []))
  expect(freed).toEqual(expect.arrayContaining(blocks.map(({ address }) => address)))
})

testWith('heaptrack')('call stacks have the names of functions', async () => {
  const { code, stdout } = await run('hf-record --stack -- ./leaks')
  expect(code).toBe(3)
  const block = rowsOf(stdout).find(({ size }) => size === 2000) as Row
  expect(block.stack?.some((frame) => frame.includes('main'))).toBe(true)
})

const NAMES_LATER = "heapflow's own recorder leaves the names of functions to hf-stats and hf-symbolize"

test('an unknown ending is refused with those that it can write, also that of its own recorder', async () => {
  const { code, stderr } = await run('hf-record -o a.foo -- true')
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(', .c, .hfrec do: name one with --to') })
})

test.each([
  ['hf-record', 'name the program to record: hf-record -- COMMAND'],
  ['hf-record -o a', 'name the program to record: hf-record -- COMMAND'],
  [
    'hf-record --with mtrace -- ls',
    `--with must be one of recorder, heaptrack, glibc, valgrind, ltrace, perf, not "mtrace": glibc's mtrace is called glibc here`,
  ],
  ['hf-record --stack -o a.hfrec -- ls', `--stack and -o a.hfrec exclude each other: ${NAMES_LATER}`],
  ['hf-record --stack --with recorder -- ls', `--stack and --with recorder exclude each other: ${NAMES_LATER}`],
  ['hf-record --with valgrind --stack -- ls', 'valgrind records no call stacks; heaptrack and recorder do'],
])('%s is a usage error', async (line, message) => {
  expect(await run(line)).toMatchObject({ code: 2, stderr: `hf-record: ${message}; see hf-record --help\n` })
})
