import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shell } from '../support/commands.js'
import { peak } from '../support/peak.js'

/** Numbers of live blocks just after tables have doubled, where they take the most for each. */
const SIZES = [270_000, 335_000, 660_000]
const FEW = 1000
/** With few live blocks there are more events, so that V8 compiles what it compiles with many. */
const PASSING = 200_000
const folder = mkdtempSync(join(tmpdir(), 'heapflow-'))
const file = (n: number) => join(folder, `${n}.ndjson`)
afterAll(() => rmSync(folder, { recursive: true }))

/** A trace in which `n` blocks stay live. @param passing the number of blocks before them that do not */
function* trace(n: number, passing = 0): Generator<string> {
  const address = (i: number) => `"address":"0x${(0x10000 + i * 48).toString(16)}"`
  const alloc = (i: number) => `{"kind":"alloc",${address(i)},"size":${16 + (i % 5) * 8}}\n`
  for (let i = 0; i < passing; i++) yield `${alloc(i % FEW)}{"kind":"free",${address(i % FEW)}}\n`
  for (let i = 0; i < n; i++) yield alloc(i)
}

/** Processes, each of which leaves `LEFT` blocks at its end, at the addresses of the others. */
const LEFT = 4000
function* processes(n: number): Generator<string> {
  for (let process = 2; process < n + 2; process++) {
    for (let i = 0; i < LEFT; i++)
      yield `{"kind":"alloc","process":${process},"address":"0x${(0x10000 + i * 48).toString(16)}","size":24}\n`
    yield `{"kind":"process-end","process":${process}}\n`
  }
}

/** What the help of a command says of each live block: the most, in bytes. @param of text before the figure */
async function promised(command: string, of = ''): Promise<number> {
  const help = (await shell(`${command} --help`)).stdout.toString().replace(/\s+/g, ' ')
  const memory = help.slice(help.indexOf(of, help.search(/memory:/i)))
  return Number(/(?:\d+ to|up to|by \d+ to) (\d+)/.exec(memory)?.[1])
}

describe('memory for each live block', { tags: ['slow'], timeout: 300_000 }, () => {
  beforeAll(async () => {
    await pipeline(Readable.from(trace(FEW, PASSING)), createWriteStream(file(FEW)))
    for (const n of SIZES) await pipeline(Readable.from(trace(n)), createWriteStream(file(n)))
  })

  test.each([
    ['hf-stats', ''],
    ['hf-profile --to collapsed', ''],
    ['hf-verify', ''],
    ['hf-blocks', ''],
    ['hf-report -o /dev/null', ''],
    ['hf-filter --size 1.. --lifetimes', 'with --lifetimes'],
    ['hf-filter --leaked', 'with --leaked'],
    ['hf-filter --live-at peak', 'with --leaked'],
    ['hf-convert --to mtrc', 'mpatrol'],
    ['hf-convert --to heaptrack', 'the target heaptrack'],
    ['hf-convert --to compact', 'the target compact'],
  ])('of %s is at most what the help says', async (command, of) => {
    const most = await promised(command.split(' ')[0] as string, of)
    expect(most).toBeGreaterThan(50)
    const least = await peak(`${command} ${file(FEW)}`)
    for (const n of SIZES) expect(((await peak(`${command} ${file(n)}`)) - least) / n).toBeLessThan(most)
  })
})

describe('blocks that processes left at their ends', { tags: ['slow'], timeout: 300_000 }, () => {
  const [few, many] = [100, 400]
  beforeAll(async () => {
    for (const n of [few, many]) {
      await pipeline(Readable.from(processes(n)), createWriteStream(file(n)))
      await shell(`compact-encode --fast < ${file(n)} > ${file(n)}.hfc`)
    }
  })

  test.each([
    ['compact-encode', ''],
    ['compact-encode --fast', ''],
    ['compact-decode', '.hfc'],
    ['hf-stats', '.hfc'],
    ['hf-verify', '.hfc'],
    ['hf-blocks', '.hfc'],
    ['hf-report -o /dev/null', '.hfc'],
    ['hf-filter --leaked', '.hfc'],
    ['hf-simulate --policy best-fit', '.hfc'],
  ])('take no memory in %s', async (command, suffix) => {
    const least = await peak(`${command} ${file(few)}${suffix}`)
    const most = await peak(`${command} ${file(many)}${suffix}`)
    expect((most - least) / ((many - few) * LEFT)).toBeLessThan(10)
  })
})
