import { batchesOf, type EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import { TraceError } from '../../lib/event/error.js'
import { countEvents } from '../../lib/formats/compact/count.js'
import { CompactDecoder } from '../../lib/formats/compact/decode.js'
import { compact } from '../../lib/formats/compact/index.js'
import { SECTION, SECTION_HEAD } from '../../lib/formats/compact/layout.js'
import { findStart } from '../../lib/formats/compact/seek.js'
import { sealed, sectionsOf, type Section } from '../support/compact.js'
import { Budget } from './budget.js'
import { decode, encode } from './drive.js'
import { Failure } from './failure.js'
import { Random } from './random.js'
import type { Target } from './target.js'

const CHECKPOINT = 4096
const EVENTS = 3 * CHECKPOINT + 100

/** A file whose places are found by its index, and where its sections are. */
interface Seed {
  readonly bytes: Uint8Array
  readonly sections: readonly Section[]
}
let seeds: readonly Seed[] | undefined

function seedFiles(): readonly Seed[] {
  const random = new Random()
  random.seed(1)
  const calls = (names: readonly string[]): TraceEvent[] =>
    Array.from({ length: EVENTS }, (_, i) => {
      const place = { thread: BigInt(i % 3), address: BigInt(4096 + 64 * (i >> 1)) }
      return i % 2 === 1
        ? { kind: 'free', ...place }
        : { kind: 'alloc', ...place, size: BigInt(random.below(500)), stack: names.slice(i % names.length) }
    })
  return [calls(['inner']), calls(['a', 'b', 'c', 'd'])].map((events) => {
    const batches = [...batchesOf(events, { format: 'unknown' })]
    const { bytes } = encode(compact.encoder({ checkpoint: CHECKPOINT, fast: true }), batches)
    return { bytes, sections: sectionsOf(bytes) }
  })
}

/** Compact traces with checkpoints, of which some bytes are changed, with checksums that fit or do not. */
export const CHECKPOINT_TARGET: Target = {
  name: 'checkpoints',
  weight: 16,
  make(random) {
    const { bytes, sections } = random.pick((seeds ??= seedFiles()))
    const copy = bytes.slice()
    for (let n = random.length(3); n >= 0; n--) {
      // Most damage is in what leads to a place, and in what checkpoints keep.
      const kept = random.oneIn(2)
      const some = sections.filter(
        ({ type }) =>
          random.oneIn(6) || (kept ? type === SECTION.checkpoint : type === SECTION.index || type === SECTION.end),
      )
      const section = random.pick(some.length === 0 ? sections : some)
      const from = section.from + (random.oneIn(8) ? 0 : SECTION_HEAD)
      for (let changes = 1 + random.length(4); changes > 0; changes--) {
        const at = from + random.below(section.to - from)
        copy[at] = random.oneIn(2) ? random.u32() : copy[at]! ^ (1 << random.below(8))
      }
      if (!random.oneIn(3)) sealed(copy, section)
    }
    const damaged = random.oneIn(12) ? copy.subarray(0, random.below(copy.length)) : copy
    const wanted = [0, random.below(EVENTS), EVENTS - 1, random.below(2 * EVENTS)]
    return { extension: '.hfc', bytes: () => damaged, check: () => checkPlaces(damaged, wanted) }
  },
}

/** What a function gives, or undefined for the error of a trace. */
function orDamaged<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    if (error instanceof TraceError) return undefined
    throw error
  }
}

function checkPlaces(bytes: Uint8Array, wanted: readonly number[]): void {
  const budget = new Budget()
  budget.add(bytes)
  const countOf = (batches: readonly EventBatch[]) => {
    for (const batch of batches) budget.add(batch)
    return batches.reduce((sum, { count }) => sum + count, 0)
  }
  const read = (offset: number, length: number) => bytes.slice(offset, offset + length)
  const whole = decode(compact.decoder(), bytes)
  const count = countOf(whole.batches)
  const counted = orDamaged(() => countEvents(bytes.length, read))
  if (whole.error === undefined && counted !== undefined && counted !== count)
    throw new Failure(`${counted} events counted, and ${count} read`)
  for (const event of wanted) {
    const start = orDamaged(() => findStart(bytes.length, event, read).start)
    if (start === undefined) continue
    const part = decode(new CompactDecoder(start), bytes.slice(start.bytes))
    const found = countOf(part.batches)
    if (whole.error === undefined && part.error === undefined && start.events + found !== count)
      throw new Failure(`${found} events from ${start.events} on, of ${count}`)
  }
  budget.check()
}
