import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, expect, test } from 'vitest'
import { scratch } from './support/commands.js'
import { LIMIT, peak } from './support/peak.js'

const EVENTS = 5_000_000
const LIVE = 1000

/** The text of a dump whose live set stays small, made as it is read. */
function* dump(events: number): Generator<string> {
  let text = ''
  for (let i = 0; i < events / 2; i++) {
    const block = (0x5500_0000 + (i % LIVE) * 4096).toString(16)
    text += `${(i % 9) + 1}: malloc 0x${block} ${i % 5000}\n${(i % 9) + 1}: free 0x${block}\n`
    if (text.length > 60_000) {
      yield text
      text = ''
    }
  }
  yield text
}

describe(`peak memory on ${EVENTS} events`, { tags: ['slow'], timeout: 300_000 }, () => {
  test('is within the limit for every command', async () => {
    const folder = scratch()
    const file = (name: string) => join(folder, name)
    const { replay, mtrc, hatf, ndjson, decompress, compose } = await import('../lib/entry/index.js')
    await pipeline(Readable.from(dump(EVENTS)), createWriteStream(file('t.txt')))
    const pairs = { mtrc, hatf, ndjson } as const
    for (const [name, pair] of Object.entries(pairs)) {
      await pipeline(
        createReadStream(file('t.txt')),
        compose(decompress(), replay.decode(), pair.encode()),
        createWriteStream(file(`t.${name}`)),
      )
    }
    const commands: [string, string][] = [
      ['replay-decode', 't.txt'],
      ['mtrc-decode', 't.mtrc'],
      ['hatf-decode', 't.hatf'],
      ['replay-encode', 't.ndjson'],
      ['mtrc-encode', 't.ndjson'],
      ['hatf-encode', 't.ndjson'],
      ['hatf-encode --attributes', 't.ndjson'],
      ['hf-filter --size 100.. --lifetimes', 't.ndjson'],
      ['hf-map --anonymise all --key k --number-threads', 't.ndjson'],
      [`hf-split --by thread -o '${folder}/{}.hatf'`, 't.mtrc'],
      ['hf-convert - - --to hatf', 't.mtrc'],
      ['hatf-encode --split-addr', 't.mtrc'],
      ['kmemtrace-encode', 't.mtrc'],
      ['heapmon-encode', 't.mtrc'],
      ['hf-sort --by size', 't.mtrc'],
      ['hf-stats', 't.mtrc'],
      ['hf-verify --allow zero-size', 't.mtrc'],
    ]
    const peaks: Record<string, number> = {}
    for (const [line, input] of commands) peaks[line] = await peak(line, file(input))
    for (const [line, bytes] of Object.entries(peaks)) {
      expect(bytes, line).toBeGreaterThan(20_000_000)
      expect(bytes, line).toBeLessThan(LIMIT)
    }
  })
})
