import { describe, expect, it } from 'vitest'
import type { EventBatch, TraceEvent } from '../../../lib/event/batch.js'
import { HatfDecoder, HatfEncoder, type HatfEncodeOptions } from '../../../lib/formats/hatf/index.js'
import { mtrc } from '../../../lib/formats/mtrc/index.js'
import { replay } from '../../../lib/formats/replay/index.js'
import { corpusFile } from '../../support/corpus.js'
import { decodeAll, drive, encodeAll } from '../../support/drive.js'
import { PLAIN } from './bytes.js'

function outcomeOf({ oldAddress, address, size }: TraceEvent): TraceEvent['outcome'] {
  if (address === 0n) return size === 0n && oldAddress !== 0n ? 'freed' : 'none'
  return oldAddress === 0n ? 'allocated' : oldAddress === address ? 'none' : 'moved'
}

/** What plain HATF leaves of an event of memory_replay. */
function plain(event: TraceEvent): Partial<TraceEvent> {
  const { kind, thread, size, address, oldAddress, time } = event
  const common = { kind, ...(thread !== undefined && { thread }), ...(time !== undefined && { time }) }
  if (kind === 'alloc') return { ...common, address, size } as TraceEvent
  if (kind === 'free') return { ...common, address } as TraceEvent
  if (kind === 'realloc') return { ...common, address, oldAddress, size, outcome: outcomeOf(event) } as TraceEvent
  return common
}

describe('real traces', { tags: ['corpus'] }, () => {
  it.each(['git', 'mstress', 'python'])('memory_replay %s comes back', (name) => {
    const source = decodeAll(replay.decoder(), corpusFile(`memory-replay/${name}.txt`).subarray(0, 2_000_000))
    const bytes = encodeAll(new HatfEncoder(), source.batches)
    const { events, error } = decodeAll(new HatfDecoder(), bytes, 65_536)
    expect(error).toBeUndefined()
    expect(events).toEqual(source.events.map(plain))
  })

  const others: HatfEncodeOptions[] = [
    PLAIN,
    { preset: 'naive' },
    ...(['small', 'same'] as const).map((sizeEncoding) => ({ ...PLAIN, sizeEncoding })),
    ...(['base1', 'base2', 'base4', 'base', 'stride', 'delta'] as const).map((addressEncoding) => ({
      ...PLAIN,
      addressEncoding,
    })),
    { ...PLAIN, timeEncoding: 'delta', heapEncoding: 'runs', threadEncoding: 'runs' },
  ]

  it.each(['git', 'mstress', 'python', 'espresso-largest-m32', 'twolf-map9v3', 'systemui'])(
    '%s comes back from every strategy',
    (name) => {
      const source = decodeAll(replay.decoder(), corpusFile(`memory-replay/${name}.txt`).subarray(0, 50_000))
      const expected = source.events.map(plain)
      const naive = encodeAll(new HatfEncoder(PLAIN), source.batches).length
      for (const options of others) {
        const bytes = encodeAll(new HatfEncoder(options), source.batches)
        expect(decodeAll(new HatfDecoder(), bytes).events, JSON.stringify(options)).toEqual(expected)
        expect(bytes.length).toBeLessThanOrEqual(naive)
      }
    },
  )

  it.each([
    ['espresso-largest-m32', { preset: 'naive' }, 7.02],
    ['espresso-largest-m32', {}, 5.5],
    ['twolf-map9v3', {}, 4],
    ['twolf-map9v3', { addressEncoding: 'none' }, 9.55],
  ] as const)('%s as %o: no more than %f bytes per alloc, free and realloc record', (name, options, limit) => {
    const source = decodeAll(replay.decoder(), corpusFile(`memory-replay/${name}.txt`).subarray(0, 2_000_000)).batches
    const records = encodeAll(new HatfEncoder(options), source)
    let count = 0
    for (const batch of drive(new HatfDecoder({ fold: false }), [records]).out) count += batch.count
    expect(records.length / count).toBeLessThanOrEqual(limit)
  })

  it.each(['small64', 'small32', 'fork-parent64', 'mt64', 'cxx64', 'legacy-cpp'])(
    'mtrc %s is byte for byte the same through kept attributes',
    (name) => {
      const file = corpusFile(`mtrc/${name}.mtrc`)
      const source: EventBatch[] = decodeAll(mtrc.decoder(), file).batches
      const encoder = new HatfEncoder({ attributes: true, strict: true })
      const bytes = encodeAll(encoder, source)
      const { batches, error } = decodeAll(new HatfDecoder(), bytes, 65_536)
      expect(error).toBeUndefined()
      expect(encodeAll(mtrc.encoder(), batches)).toEqual(new Uint8Array(file))
    },
  )
})
