import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, expect, test } from 'vitest'
import { commandLine, scratch } from './support/commands.js'

const EVENTS = 5_000_000
const LIVE = 1000
/**
 * The limit that the project sets itself, on Node 20: peak resident memory of any command. Newer versions of Node start
 * with a larger young generation, and take more whatever they run.
 */
const LIMIT = process.versions.node.startsWith('20.') ? 130_000_000 : 200_000_000

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

/** Runs a command on a file and gives its peak resident memory in bytes. */
async function peak(line: string, input: string): Promise<number> {
  // The command says at its end what it used at most.
  const report = 'data:text/javascript,process.on("exit",()=>process.stderr.write("peak="+process.resourceUsage().maxRSS*1024))'
  const child = spawn('bash', ['-c', `${commandLine(line)} > /dev/null`], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: `--import=${JSON.stringify(report)}` },
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  createReadStream(input).pipe(child.stdin)
  await once(child, 'close')
  return Number(/peak=(\d+)/.exec(said)?.[1] ?? NaN)
}

describe(`peak memory on ${EVENTS} events`, { timeout: 300_000 }, () => {
  test('is within the limit for every command', async () => {
    const folder = scratch()
    const file = (name: string) => join(folder, name)
    const { replay, mtrc, hatf, ndjson, decompress, compose } = await import('../lib/index.js')
    await pipeline(Readable.from(dump(EVENTS)), createWriteStream(file('t.txt')))
    const pairs = { mtrc, hatf, ndjson } as const
    for (const [name, pair] of Object.entries(pairs)) {
      await pipeline(createReadStream(file('t.txt')), compose(decompress(), replay.decode(), pair.encode()), createWriteStream(file(`t.${name}`)))
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
      ['hf convert - - --to hatf', 't.mtrc'],
    ]
    const peaks: Record<string, number> = {}
    for (const [line, input] of commands) peaks[line] = await peak(line, file(input))
    for (const [line, bytes] of Object.entries(peaks)) {
      expect(bytes, line).toBeGreaterThan(20_000_000)
      expect(bytes, line).toBeLessThan(LIMIT)
    }
  })
})
