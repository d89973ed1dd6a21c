import { spawnSync } from 'node:child_process'
import { createReadStream, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { describe, expect, test } from 'vitest'
import { SECTIONS } from '../../lib/cli/defaults.js'
import { reportPieces } from '../../lib/cli/report/text.js'
import type { EventBatch, TraceEvent } from '../../lib/event/batch.js'
import { OwnFrames } from '../../lib/names/own-frames.js'
import { decodeAny } from '../../lib/streams/decode.js'
import { decompress } from '../../lib/streams/decompress.js'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import { HEADER, inBatches } from '../transforms/events.js'
import { commandLine, scratch, shell } from '../support/commands.js'

const STACK = Array.from({ length: 8 }, (_, i) => `name_of_a_function_${i} at source_${i}.c:1${i}`)
const TRACE = `${JSON.stringify({ kind: 'alloc', address: '0x10', size: 7, stack: STACK })}\n`

/** The lines that are too wide, without those of labels with several names: each of these may be long. */
const tooWide = (text: string, width: number) =>
  text.split('\n').filter((line) => line.length > width && !line.includes(' < ...'))

/** A trace for the fixtures without one of this format: all sections have rows. */
const EVENTS = Array.from({ length: 400 }, (_, i): TraceEvent => {
  const common = { time: BigInt(i) * 1_000_000_007n, process: BigInt(i % 2), thread: BigInt(i % 3), cpu: i % 4 }
  const address = BigInt(i % 97) * 4096n
  const size = 7n ** BigInt(i % 14)
  return i % 3 === 2
    ? { kind: 'free', ...common, address }
    : { kind: 'alloc', ...common, address, size, function: `f${i % 5}` }
})

describe('no line is wider than the output, but names that cannot be shorter', () => {
  const files = readdirSync('test/fixtures', { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.includes('/') && !/\.(stats|verbose)\.txt/.test(name),
  )

  test.each([...files, undefined])('of statistics: %s', async (name) => {
    const collector = new StatisticsCollector()
    if (name === undefined) for (const batch of inBatches(EVENTS, 100, HEADER)) collector.add(batch)
    else
      await pipeline(
        createReadStream(`test/fixtures/${name}`),
        decompress(),
        decodeAny(),
        async (batches: AsyncIterable<EventBatch>) => {
          for await (const batch of batches) collector.add(batch)
        },
      )
    const statistics = collector.finish()
    for (const columns of [60, 80, 100])
      for (const by of ['site', 'thread'] as const)
        for (const sections of [undefined, SECTIONS]) {
          const names = { own: new OwnFrames(), columns, by }
          const text = [...reportPieces(statistics, { names, ...(sections && { sections }), timeline: 5 })].join('')
          expect(tooWide(text, columns)).toEqual([])
        }
  })

  test.each([
    'hf-diff A B',
    'hf-diff --top 0 A B',
    'hf-diff A A',
    'hf-check --max-peak 1 --max-leaked 1G --max-temporary 10% A',
    'hf-check --grow peak=1% --baseline A B',
    'hf-simulate --policy best-fit A',
    'hf-simulate --policy bump --predict A A',
    'hf-simulate --compare all A',
    'hf-replay --runs 1 A',
    'hf-replay --verify A',
  ])('of %s', { tags: ['slow'] }, async (line) => {
    const [a, b] = ['test/fixtures/mtrc/cxx64.mtrc', 'test/fixtures/heaptrack/cxx.raw.gz']
    for (const width of [60, 80, 100]) {
      const { stdout, stderr } = await shell(`COLUMNS=${width} ${line.replace(/\bA\b/g, a).replace(/\bB\b/g, b)}`)
      expect(tooWide(stdout.toString(), width)).toEqual([])
      expect(stdout.toString()).not.toBe('')
      expect(stderr).not.toContain('Error')
    }
  })
})

describe('the width of rows', () => {
  async function widest(line: string): Promise<number> {
    const { code, stdout, stderr } = await shell(line, TRACE)
    expect([code, stderr]).toEqual([0, ''])
    return Math.max(
      ...stdout
        .toString()
        .split('\n')
        .map((text) => text.length),
    )
  }

  test('is 100, or what COLUMNS or --width says, which is stronger', { tags: ['slow'] }, async () => {
    const leaks = 'hf-stats --section leaks'
    const widths = [
      await widest(leaks),
      await widest(`COLUMNS=200 ${leaks}`),
      await widest(`COLUMNS=60 ${leaks}`),
      await widest(`COLUMNS=60 ${leaks} --width 170`),
    ]
    for (const [i, most] of [100, 200, 60, 170].entries()) {
      expect(widths[i]).toBeLessThanOrEqual(most)
      // A frame more would not fit.
      expect(widths[i]).toBeGreaterThan(most - 46)
    }
    for (const odd of ['', '0', '-5', 'wide', '1e3', '50.5'])
      expect(await widest(`COLUMNS='${odd}' ${leaks}`)).toBe(widths[0])
    // As for ls and git, the least is what can be read.
    expect(await widest(`COLUMNS=3 ${leaks}`)).toBe(await widest(`COLUMNS=40 ${leaks}`))
  })

  test('a file has 100, whatever the terminal is', { tags: ['slow'] }, async () => {
    const file = join(scratch(), 'out')
    const text = async (line: string) => {
      await shell(line, TRACE)
      return (await shell(`cat ${file}`)).stdout.toString()
    }
    const plain = await text(`hf-stats --section leaks -o ${file}`)
    expect(await text(`COLUMNS=200 hf-stats --section leaks -o ${file}`)).toBe(plain)
    expect(await text(`hf-stats --section leaks --width 200 -o ${file}`)).not.toBe(plain)
  })

  test.each(['39', '10001', 'x', '-1'])('--width %s is refused', async (width) => {
    const { code, stderr } = await shell(`hf-stats --width=${width}`, TRACE)
    expect([code, stderr]).toEqual([2, expect.stringContaining('--width')])
  })

  test('no form without rows takes --width', { tags: ['slow'] }, async () => {
    for (const line of ['hf-stats --json', 'hf-stats --mpatrol', 'hf-stats --every 1s', 'hf-diff --json'])
      expect((await shell(`${line} --width 80 /dev/null${line.startsWith('hf-diff') ? ' /dev/null' : ''}`)).code).toBe(
        2,
      )
  })

  const hasScript = spawnSync('script', ['--version'], { stdio: 'ignore' }).error === undefined
  test.skipIf(!hasScript)('is that of the terminal, unless COLUMNS says another one', { tags: ['slow'] }, async () => {
    const file = join(scratch(), 'trace.ndjson')
    await shell(`cat > ${file}`, TRACE)
    const on = async (columns: number, before: string) => {
      const line = commandLine(`stty cols ${columns}; ${before} hf-stats --section leaks ${file}`)
      const { stdout } = await shell(`script -qec ${JSON.stringify(line)} /dev/null`)
      return stdout.toString().replaceAll('\r', '')
    }
    const piped = async (columns: number) =>
      (await shell(`hf-stats --section leaks --width ${columns} ${file}`)).stdout.toString()
    expect(await on(60, '')).toBe(await piped(60))
    expect(await on(180, '')).toBe(await piped(180))
    expect(await on(60, 'COLUMNS=180')).toBe(await piped(180))
  })
})
