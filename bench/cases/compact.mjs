// Compact traces, compared with compressors of the same trace as text.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

/** zpaq takes a minute for each 10 MB, so larger texts are not given to it. */
const ZPAQ_BYTES = 16_000_000

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
  return [...both, ...best.map((task) => ({ ...task, name: `${task.name}, best` })), ...others, ...zpaqTasks(text, events)]
}

/** The strongest compressor, in one thread. It is run once each way, and all rounds have that time. */
function zpaqTasks(text, events) {
  if (text.length > ZPAQ_BYTES || !hasProgram('zpaq')) return []
  const folder = mkdtempSync(join(tmpdir(), 'heapflow-zpaq-'))
  try {
    const run = (...words) => {
      const begin = performance.now()
      execFileSync('zpaq', [...words, '-t1'], { cwd: folder, stdio: 'ignore' })
      return (performance.now() - begin) / 1000
    }
    writeFileSync(join(folder, 'text'), text)
    const compressing = run('add', 'a.zpaq', 'text', '-m5')
    const expanding = run('extract', 'a.zpaq', 'text', '-to', 'out')
    if (!readFileSync(join(folder, 'out')).equals(text)) throw new Error('zpaq does not give the text back')
    const bytes = statSync(join(folder, 'a.zpaq')).size
    const task = (name, seconds) => ({ name, events, bytes, run: () => events, seconds: () => seconds })
    return [task('zpaq -m5 -d', expanding), task('zpaq -m5', compressing)]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Pairs of tasks, the second one the yardstick. */
export const ratios = [
  ['decode', 'xz -9e -d'],
  ['encode', 'xz -9e'],
  ['encode', 'zstd -19'],
  ['encode, best', 'xz -9e'],
  ['encode, best', 'zpaq -m5'],
  ['decode, best', 'zpaq -m5 -d'],
  ['decode, best', 'decode'],
  ['encode, best', 'encode'],
]
