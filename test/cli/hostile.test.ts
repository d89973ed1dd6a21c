// @module-tag slow
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { commandLine } from '../support/commands.js'
import { CORPUS, listOfCorpus } from '../support/corpus.js'
import { usualTime } from '../support/stopwatch.js'

const FOLDER = join(CORPUS, 'hostile', '692f3ed')
/** The processor time of a command besides its start, in milliseconds, and for each byte of input and output. */
const LEAST_TIME = 1000
const BYTE_TIME = 0.002
/** Starting a command takes some 100 ms, and twice as long while other tests run. */
const START_TIME = 300
/** The limit of the longest line of NDJSON, which takes most. */
const MAX_MEMORY = 450_000_000

interface Ran {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stderr: string
  readonly bytes: number
  readonly time: number
  readonly memory: number
}

/** Runs a command, and measures it. */
function run(line: string): Promise<Ran> {
  const report =
    'data:text/javascript,process.on("exit",()=>{const u=process.resourceUsage();' +
    'process.stderr.write(`used=${(u.userCPUTime+u.systemCPUTime)/1000},${u.maxRSS*1024}`)})'
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', `exec ${commandLine(line)}`], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_OPTIONS: `--import=${JSON.stringify(report)}` },
    })
    let stderr = ''
    let bytes = 0
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    child.stdout.on('data', (chunk: Buffer) => (bytes += chunk.length))
    child.on('close', (code, signal) => {
      const [, time, memory] = /used=([\d.]+),(\d+)/.exec(stderr) ?? []
      resolve({ code, signal, stderr, bytes, time: Number(time), memory: Number(memory) })
    })
  })
}

const files = listOfCorpus(
  () => (existsSync(FOLDER) ? readdirSync(FOLDER).filter((name) => /\.\w+$/.test(name) && !name.endsWith('.mjs')) : []),
  'absent',
)

describe.each(files)('%s', { tags: ['corpus'], timeout: 120_000 }, (name) => {
  const path = join(FOLDER, name)
  const statistics = [`hf-stats '${path}'`, `hf-stats --json '${path}'`]
  // Deep stacks are gigabytes of text.
  const isDeep = name.startsWith('heaptrack-deep')
  test.each(isDeep ? statistics : [...statistics, `hf-convert '${path}' --to ndjson`])(
    'takes little time and memory, and ends with at most an error: %s',
    async (line) => {
      const input = readFileSync(path)
      const length = name.endsWith('.gz') ? gunzipSync(input).length : input.length
      const { code, signal, stderr, bytes, time, memory } = await run(line)
      expect({ code, signal }).toEqual({ code: expect.toBeOneOf([0, 1]) as number, signal: null })
      expect(stderr).not.toMatch(/Unhandled|Fatal|\n {4}at /)
      expect(usualTime(time)).toBeLessThan(START_TIME + LEAST_TIME + BYTE_TIME * (length + bytes))
      expect(memory).toBeLessThan(MAX_MEMORY)
    },
  )
})
