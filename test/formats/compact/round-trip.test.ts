import { readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { EventBatch } from '../../../lib/event/batch.js'
import { isWritable, type Format } from '../../../lib/event/format.js'
import { compact, type CompactLevel } from '../../../lib/formats/compact/index.js'
import { LEVEL } from '../../../lib/formats/compact/layout.js'
import { ndjson } from '../../../lib/formats/ndjson/index.js'
import { CORPUS, corpusFile, hasCorpus } from '../../support/corpus.js'
import { drive, encodeAll, slices } from '../../support/drive.js'
import { formatNamed, sniffFormat } from '../../support/formats.js'

const GOLDEN = new URL('../../golden/', import.meta.url)

/** The batches of a trace; what is damaged is read up to the fault. */
function read(format: Format, bytes: Uint8Array): EventBatch[] {
  return drive(format.decoder(), slices(bytes, 65_536)).out
}

/** How long a trace is at both levels. */
interface Lengths {
  readonly fast: number
  readonly best: number
}

/** Expects that all of a trace comes back at both levels, and what its own format writes of it, too. */
function expectBack(format: Format, batches: readonly EventBatch[]): Lengths {
  return {
    fast: expectBackFrom(LEVEL.fast, format, batches),
    best: expectBackFrom(LEVEL.best, format, batches),
  }
}

function expectBackFrom(level: CompactLevel, format: Format, batches: readonly EventBatch[]): number {
  const packed = encodeAll(compact.encoder({ level }), batches)
  const { out, error } = drive(compact.decoder(), slices(packed, 65_536))
  expect(error).toBeUndefined()
  for (const target of new Set([ndjson, format])) {
    if (!isWritable(target)) continue
    const same = Buffer.compare(encodeAll(target.encoder(), out), encodeAll(target.encoder(), batches)) === 0
    expect(same, `as ${target.name}`).toBe(true)
  }
  return packed.length
}

const countOf = (batches: readonly EventBatch[]) => batches.reduce((sum, { count }) => sum + count, 0)

describe('what any format holds comes back', () => {
  const files = readdirSync(GOLDEN, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: folder }) =>
      readdirSync(new URL(`${folder}/`, GOLDEN))
        .filter((name) => extname(name) !== '.ndjson')
        .map((name) => [folder, name]),
    )

  test.each(files)('golden %s/%s', (folder, name) => {
    const format = formatNamed(folder as string) as Format
    const bytes = new Uint8Array(readFileSync(new URL(`${folder}/${name}`, GOLDEN)))
    expectBack(format, read(format, bytes))
  })

  // The least ratio to gzip -9. Short traces mostly show what the model has not seen before.
  test.each([
    ['replay/git.txt.gz', 4],
    ['replay/mstress-head.txt.gz', 2],
    ['mtrc/git.mtrc.gz', 2],
    ['mtrc/small64.mtrc.gz', 1.5],
  ])('fixture %s, in a %fth of the bytes of gzip -9', { tags: ['slow'] }, (path, ratio) => {
    const packed = new Uint8Array(readFileSync(new URL(`../../fixtures/${path}`, import.meta.url)))
    const bytes = new Uint8Array(gunzipSync(packed))
    const format = sniffFormat(bytes) as Format
    const { fast, best } = expectBack(format, read(format, bytes))
    expect(fast * ratio).toBeLessThan(packed.length)
    expect(best).toBeLessThan(fast)
  })
})

test.each(['fast', 'best'])(
  'stacks that are deep, recur and differ in many names come back: %s',
  { tags: ['large'] },
  (level) => {
    const stacks = Array.from({ length: 20 }, (_, s) =>
      Array.from({ length: 5000 }, (_unused, i) => (i % 2 === 0 ? `f${s}_${i}` : `m${i}`)),
    )
    const header = { format: 'deep' }
    const batches = Array.from({ length: 5 }, (_, b) => {
      const batch = new EventBatch(500, 0, header)
      for (let i = 0; i < 500; i++)
        batch.push({ kind: 'alloc', address: BigInt(4096 + 64 * (500 * b + i)), stack: stacks[(7 * i + b) % 20]! })
      return batch
    })
    const bytes = encodeAll(compact.encoder({ [level]: true }), batches)
    let read = 0
    const { out, error } = drive(compact.decoder(), slices(bytes, 65_536))
    expect(error).toBeUndefined()
    for (const batch of out)
      for (const { stack } of batch) {
        if (stack?.join() !== stacks[(7 * (read % 500) + Math.floor(read / 500)) % 20]!.join())
          throw new Error(`event ${read + 1} has another stack`)
        read++
      }
    expect(read).toBe(2500)
  },
)

describe('the corpus comes back', { tags: ['corpus'] }, () => {
  const folders = ['hatf-ascii', 'heaptrack', 'kmem', 'ltrace', 'mtrace', 'mtrc', 'valgrind']
  const files = !hasCorpus
    ? []
    : folders.flatMap((folder) =>
        readdirSync(`${CORPUS}${folder}`)
          .filter(
            (name) => /\.(gz|zst|mtrc|mtrace|ltrace|log|txt|hatf)$/.test(name) && !/\.(verbose|print)\./.test(name),
          )
          .map((name) => `${folder}/${name.replace(/\.gz$/, '')}`),
      )

  test.each(files)('%s', (path) => {
    const bytes = new Uint8Array(corpusFile(path))
    const format = sniffFormat(bytes.subarray(0, 65_536))
    if (format === undefined) return
    expectBack(format, read(format, bytes))
  })

  // Bytes per event: at the fast level 1.6 times, and at the best one 1.05 times, what a prototype's best model takes.
  test.each([
    ['espresso-largest-m32', 0.1158, 0.076],
    ['twolf-map9v3', 0.2429, 0.1594],
    ['git', 0.6542, 0.4293],
    ['python', 0.2606, 0.171],
    ['mstress', 0.8, 0.5],
    ['systemui', 0.307, 0.2015],
  ])('memory-replay/%s, in at most %f and %f bytes for each event', (name, mostFast, mostBest) => {
    const replay = formatNamed('replay') as Format
    const batches = read(replay, new Uint8Array(corpusFile(`memory-replay/${name}.txt`)))
    const { fast, best } = expectBack(replay, batches)
    expect(fast / countOf(batches)).toBeLessThan(mostFast)
    expect(best / countOf(batches)).toBeLessThan(mostBest)
  })
})
