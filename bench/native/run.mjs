// Runs one native loop by hand: `node bench/native/run.mjs FORMAT decode|encode FILE [ROUNDS]`.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spread } from '../measure.mjs'
import { buildNative } from './build.mjs'
import { runLoop } from './tasks.mjs'

const [format, direction, file, rounds = '15'] = process.argv.slice(2)
if (file === undefined || (direction !== 'decode' && direction !== 'encode')) {
  console.error('usage: node bench/native/run.mjs mtrc|mtrc-unresolved|replay|hatf|kmemtrace|ndjson decode|encode FILE [ROUNDS]')
  process.exitCode = 2
} else {
  const folder = mkdtempSync(join(tmpdir(), 'heapflow-native-'))
  try {
    const native = buildNative(folder)
    const made = native && runLoop(native.yardstick, [format, direction, file, rounds])
    if (made === undefined) {
      process.exitCode = 1
    } else {
      const { min, median, max } = spread(made.seconds)
      const rate = (seconds) => (made.events / seconds / 1e6).toFixed(1)
      console.log(`${made.events} events, ${made.checksum === undefined ? `${made.bytes} bytes` : `checksum ${made.checksum}`}`)
      console.log(`${rate(median)} million events/s (${rate(max)} to ${rate(min)}), ${(median * 1000).toFixed(2)} ms`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
