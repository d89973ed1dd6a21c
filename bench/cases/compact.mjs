// Compact traces, compared with compressors of the same trace as text.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import * as compact from '../../dist/lib/entry/compact.js'
import * as replay from '../../dist/lib/entry/replay.js'
import { batchesOf, bytesOf } from '../drive.mjs'
import { hasProgram } from '../yardsticks.mjs'
import { codecTasks } from './codec.mjs'

/** Compressors with the arguments of their smallest results, in one thread. */
const COMPRESSORS = [
  ['xz -9e', 'xz', ['-9e', '-T1', '-c']],
  ['zstd -19', 'zstd', ['-19', '--long=27', '--single-thread', '-q', '-c']],
]

/** @param {import('../inputs.mjs').Input} input */
export function tasks({ files }) {
  const text = readFileSync(files.replay)
  const batches = batchesOf(replay.format.decoder(), text)
  const [both, best] = [{ fast: true }, { best: true }].map((level) =>
    codecTasks(compact.format, bytesOf(compact.format.encoder(level), batches), level),
  )
  const [{ events }] = both
  const others = COMPRESSORS.filter(([, program]) => hasProgram(program)).flatMap(
    ([name, program, words]) => {
      const run = (more, input) => {
        const { stdout, error } = spawnSync(program, more, { input, maxBuffer: 2 ** 30 })
        if (error !== undefined) throw error
        return stdout
      }
      const compressed = run(words, text)
      return [
        { name: `${name} -d`, events, bytes: compressed.length, run: () => (run(['-d', '-q', '-c', ...words.filter((word) => word.startsWith('--long'))], compressed), events) },
        { name, events, bytes: compressed.length, run: () => (run(words, text), events) },
      ]
    },
  )
  return [...both, ...best.map((task) => ({ ...task, name: `${task.name}, best` })), ...others]
}

/** Pairs of tasks, the second one the yardstick. */
export const ratios = [
  ['decode', 'xz -9e -d'],
  ['encode', 'xz -9e'],
  ['encode', 'zstd -19'],
  ['encode, best', 'xz -9e'],
  ['decode, best', 'decode'],
  ['encode, best', 'encode'],
]
