// The yardsticks for the toolkit: usual loops, and gunzip.
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import split2 from 'split2'
import { driveStream, readableOf } from './drive.mjs'

/**
 * memory_replay text line by line into objects. The `line` event is fast; iterating over the lines takes longer.
 * Numbers are doubles, so addresses and times above 2^53 would not be exact.
 * @param {readonly Uint8Array[]} slices
 * @returns {Promise<number>} how many events there were
 */
export async function readlineLoop(slices) {
  let events = 0
  let latest
  const lines = createInterface({ input: readableOf(slices), crlfDelay: Infinity })
  lines.on('line', (line) => {
    latest = parseReplayLine(line)
    events++
  })
  await once(lines, 'close')
  return latest === undefined ? 0 : events
}

function parseReplayLine(line) {
  const parts = line.split(' ')
  const thread = parseInt(parts[0], 10)
  const action = parts[1]
  const address = parseInt(parts[2], 16)
  switch (action) {
    case 'malloc':
      return { thread, action, address, size: Number(parts[3]), ...times(parts, 4) }
    case 'calloc':
      return { thread, action, address, count: Number(parts[3]), size: Number(parts[4]), ...times(parts, 5) }
    case 'memalign':
      return { thread, action, address, alignment: Number(parts[3]), size: Number(parts[4]), ...times(parts, 5) }
    case 'realloc':
      return { thread, action, address, oldAddress: parseInt(parts[3], 16), size: Number(parts[4]), ...times(parts, 5) }
    default:
      return { thread, action, address, ...times(parts, 3) }
  }
}

function times(parts, at) {
  return parts.length > at ? { time: Number(parts[at]), endTime: Number(parts[at + 1]) } : undefined
}

/**
 * NDJSON through `split2` and `JSON.parse` into objects.
 * @param {readonly Uint8Array[]} slices
 * @returns {Promise<number>} how many lines there were
 */
export function split2Parse(slices) {
  return driveStream(slices, split2(JSON.parse), () => 1)
}

/**
 * `gunzip -c FILE > /dev/null`, with the start of the process.
 * @param {string} path
 * @returns {number} nothing that could be counted: 0
 */
export function gunzipProcess(path) {
  execFileSync('gunzip', ['-c', path], { stdio: ['ignore', 'ignore', 'inherit'] })
  return 0
}

/**
 * A program that reads a trace, including process start, with its output discarded. Its exit code may report what it
 * found.
 * @param {string} program
 * @param {readonly string[]} words
 * @returns {number} nothing that could be counted: 0
 */
export function readerProcess(program, words) {
  const { error } = spawnSync(program, words, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (error !== undefined) throw error
  return 0
}

/** Whether there is a gunzip to compare with. */
export function hasGunzip() {
  return hasProgram('gunzip')
}

/** Whether there is a program of this name. */
export function hasProgram(name) {
  return spawnSync(name, ['--version'], { stdio: 'ignore' }).error === undefined
}
