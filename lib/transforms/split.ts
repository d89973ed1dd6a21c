import { HI, LO, wide } from '../bytes/u64.js'
import { U64Map } from '../bytes/u64-map.js'
import type { EventBatch } from '../event/batch.js'
import { unencodable } from '../event/error.js'
import { APIS, FieldBit, KINDS } from '../event/fields.js'
import type { TraceHeader } from '../event/header.js'
import { checkNeededOptions, type OptionNames } from '../event/options.js'
import { PARTITIONS, type Partition } from './option-values.js'
import { INDEXED } from '../blocks/block-keys.js'
import { SpacesError } from '../blocks/address-spaces.js'
import { ENDS_HERE, LABEL, Lifetimes, type LabelByKey } from '../blocks/lifetimes.js'
import { CommonEvents, type CommonEvent } from './common-events.js'
import { MissingFields } from './missing-fields.js'
import { freeWarnings, makeFree } from './repair/changes.js'
import { PartHeaders } from './part-headers.js'
import { ProcessParts } from './process-parts.js'

/** Options for dividing events. */
export interface PartitionOptions {
  readonly by: Partition
  /** The number of shards, if `by` is `shard`. Default 2. */
  readonly shards?: number
  /**
   * Put the later reallocs and the free of a block into the part of its allocation (see `Lifetimes`), regardless of
   * their own keys. The end of a process goes into each part that has blocks which it ends. If a block of another part
   * begins at the address of a live block, whose free is missing, a free is written there, and a warning says how many.
   * Memory grows with the number of live blocks. Default false, except shards, which always do this.
   */
  readonly lifetimes?: boolean
  /**
   * Number the events, in their `sequence`, so that merging the parts restores the trace exactly; see `TracePart`.
   * Events must not have sequence numbers. Default false.
   */
  readonly number?: boolean
}

/** What these may be. */
export const PARTITION_OPTIONS: OptionNames<PartitionOptions> = {
  by: 'string',
  shards: 'number',
  lifetimes: 'boolean',
  number: 'boolean',
}

/** Events that have the same key. */
export interface Part {
  /** See `PARTITIONS`; `none` for events that do not have the field. Made of letters, digits, `_` and `-`. */
  readonly key: string
  readonly batch: EventBatch
}

const NONE = 'none'
const NUMBERED = 'it has a sequence number already: merge the parts by these, and do not number them'
const U64_KEYS = ['thread', 'process', 'heap'] as const
/** The field that determines the key. */
const FIELD_OF = {
  thread: 'thread',
  process: 'process',
  heap: 'heap',
  cpu: 'cpu',
  api: 'api',
  'size-class': 'size',
} as const
/** All such keys. */
const KEY_FIELDS = Object.values(FIELD_OF)

/**
 * Divides batches by key. What concerns all parts of a trace is in each (see `CommonEvents`). Memory grows with the
 * number of distinct keys, and with the live blocks if lifetimes are followed. A new header clears the live blocks (see
 * `Lifetimes`); the keys continue.
 */
export class Partitioner {
  /** Warnings, complete when the batches have ended. */
  readonly warnings: string[] = []
  private readonly by: Partition
  private readonly shards: number
  private readonly lifetimes: Lifetimes | undefined
  /** Where processes allocate, if blocks are not followed. */
  private readonly processes: ProcessParts | undefined
  /** All keys so far. Label k + 1 stands for `keys[k]`; 0 means no label. */
  private readonly keys: string[] = []
  private readonly labelOfKey = new Map<string, number>()
  /** Labels by the field's value. */
  private readonly labelOfValue = new U64Map(1)
  /** Labels by kind, function, power of two or shard. */
  private readonly labelOfCode: Uint32Array
  private readonly headers: PartHeaders
  private readonly missing: MissingFields
  /** The key of the last event. */
  private lastKey = NONE
  private labels = new Uint32Array(0)
  /** The events that go into further parts: an event of the batch and a label alternate, in the order of the events. */
  private readonly further: number[] = []
  private readonly common = new CommonEvents()
  private header: TraceHeader | undefined
  /** The number of frees that were written where other blocks begin. */
  private overlaps = 0
  /** Per label, the number of its events in the batch, and then the position of the next one in `rows`. */
  private ends = new Uint32Array(16)

  /**
   * @throws RangeError on an unknown way to divide, a number of shards that is not from 1 to 65536, or one where there
   *   are no shards
   */
  constructor(options: PartitionOptions) {
    checkNeededOptions(options, PARTITION_OPTIONS, 'split')
    const { by, shards = 2, lifetimes = false, number = false } = options
    if (!PARTITIONS.includes(by)) throw new RangeError(`cannot divide by '${by}' (but by ${PARTITIONS.join(', ')})`)
    if (options.shards !== undefined && by !== 'shard') throw new RangeError("split: shards needs by: 'shard'")
    if (!Number.isInteger(shards) || shards < 1 || shards > 65_536) {
      throw new RangeError(`not a number of shards from 1 to 65536: ${shards}`)
    }
    this.by = by
    this.shards = shards
    this.lifetimes = lifetimes || by === 'shard' ? new Lifetimes(false, this.further) : undefined
    this.processes = this.lifetimes !== undefined || by === 'kind' ? undefined : new ProcessParts(this.further)
    this.labelOfCode = new Uint32Array(by === 'shard' ? shards : 256)
    this.headers = new PartHeaders(this.lifetimes !== undefined || by === 'process', number)
    this.missing = new MissingFields(by === 'kind' || by === 'shard' ? [] : [FIELD_OF[by]])
  }

  /**
   * The parts of a batch, in the order in which their keys first appear; within a part events keep their order. The
   * header of a part is the batch's, with a mark (see `TracePart`). A batch without events has no parts, so a key's
   * stream begins with its first event. Each part is made when it is requested.
   *
   * With `number`, traces without events become parts, too: batches without events, under the key of the event that
   * follows.
   * @throws SpacesError when blocks cannot be distinguished, after the parts of the events before that one
   * @throws TraceError (ERR_TRACE_UNENCODABLE) when events must be numbered, but one has a sequence number already, in
   *   the same way
   */
  *partition(batch: EventBatch): Generator<Part> {
    const { count } = batch
    const numbered = this.headers.begin(batch)
    if (batch.header !== this.header) this.common.clear()
    this.header = batch.header
    this.further.length = 0
    if (count === 0) return
    this.missing.look(batch)
    if (this.labels.length < count) this.labels = new Uint32Array(count)
    const labels = this.labels.fill(0, 0, count)
    const isByBlock = this.by === 'shard'
    if (!isByBlock) {
      this.label(batch, labels)
      for (let i = 0; i < count; i++) if (labels[i] === 0) labels[i] = this.labelOf(NONE)
    }
    this.processes?.follow(batch, labels)
    let end = numbered
    let fault = end < count ? unencodable(NUMBERED, this.headers.placeOf(batch, end)) : undefined
    try {
      this.lifetimes?.follow(batch, labels, isByBlock ? this.labelShards : undefined)
    } catch (error) {
      if (!(error instanceof SpacesError)) throw error
      if (error.row < end) {
        end = error.row
        fault = error.at(this.headers.placeOf(batch, end))
      }
    }
    if (end === 0 && fault !== undefined) throw fault
    this.common.spread(batch, end, labels, this.further, this.isCommon(labels))
    const first = this.keyOfLabel(labels[0])
    for (const empty of this.headers.takeEmpty()) yield { key: first, batch: empty }
    this.lastKey = this.keyOfLabel(labels[end - 1])
    yield* this.gather(batch, labels, end)
    if (fault !== undefined) throw fault
  }

  /** Ends the input: with `number`, gives the last traces without events. */
  *end(): Generator<Part> {
    const consequence = `so all are in the part ${NONE}`
    this.warnings.push(...this.missing.warnings(consequence, 'divide by', KEY_FIELDS), ...freeWarnings(this.overlaps))
    for (const empty of this.headers.takeEmpty()) yield { key: this.lastKey, batch: empty }
  }

  /** The rows of each label, of the first `count` events, by a counting sort, which keeps their order. */
  private *gather(batch: EventBatch, labels: Uint32Array, count: number): Generator<Part> {
    if (this.ends.length <= this.keys.length) this.ends = new Uint32Array(this.keys.length * 2)
    const { ends, further } = this
    const present: number[] = []
    const countOne = (label: number): void => {
      if (ends[label] === 0) present.push(label)
      ends[label] = ends[label] + 1
    }
    let next = 0
    for (let i = 0; i < count; i++) {
      countOne(labels[i])
      for (; further[next] === i; next += 2) countOne(further[next + 1] & LABEL)
    }
    let start = 0
    for (const label of present) {
      const n = ends[label]
      ends[label] = start
      start += n
    }
    const rows = new Int32Array(start)
    const put = (label: number, row: number): number => {
      const end = ends[label]
      rows[end] = row
      ends[label] = end + 1
      return end
    }
    /** For each label, the positions in `rows` of events in whose place frees are written. */
    const frees = new Map<number, number[]>()
    next = 0
    for (let i = 0; i < count; i++) {
      put(labels[i], i)
      for (; further[next] === i; next += 2) {
        const label = further[next + 1] & LABEL
        const at = put(label, i)
        if ((further[next + 1] & ENDS_HERE) === 0) continue
        const written = frees.get(label)
        if (written === undefined) frees.set(label, [at])
        else written.push(at)
      }
    }
    const stops = present.map((label) => ends[label])
    const earlier = this.common.enter(batch, present, this.headers.before)
    for (const label of present) ends[label] = 0
    for (const [p, label] of present.entries()) {
      const key = this.keyOfLabel(label)
      yield* this.begin(key, earlier.get(label) ?? [])
      const start = stops[p - 1] ?? 0
      const part = this.headers.select(batch, key, rows.subarray(start, stops[p]))
      const written = frees.get(label) ?? []
      for (const at of written) makeFree(part, at - start)
      this.overlaps += written.length
      yield { key, batch: part }
    }
  }

  /** Whether an event that may concern all parts does: it has no key, or its key says nothing of what it concerns. */
  private isCommon(labels: Uint32Array): (i: number) => boolean {
    const isAny = this.by === 'shard' || this.by === 'kind'
    const none = this.labelOfKey.get(NONE)
    return (i) => isAny || labels[i] === none
  }

  /** Events that come before the first one of a part. */
  private *begin(key: string, events: readonly CommonEvent[]): Generator<Part> {
    for (const { batch, number } of events)
      yield { key, batch: this.headers.select(batch, key, Int32Array.of(0), number - 1) }
  }

  private keyOfLabel(label: number): string {
    return this.keys[label - 1]
  }

  private labelOf(key: string): number {
    let label = this.labelOfKey.get(key)
    if (label === undefined) this.labelOfKey.set(key, (label = this.keys.push(key)))
    return label
  }

  /** Gives each event its own label, if it has one. */
  private label(batch: EventBatch, labels: Uint32Array): void {
    switch (this.by) {
      case 'kind':
        for (let i = 0; i < batch.count; i++) labels[i] = this.codeLabel(batch.kind[i], KINDS)
        return
      case 'api':
        for (let i = 0; i < batch.count; i++) {
          if (batch.mask[i] & FieldBit.api) labels[i] = this.codeLabel(batch.api[i], APIS)
        }
        return
      case 'cpu':
        for (let i = 0; i < batch.count; i++) {
          if (batch.mask[i] & FieldBit.cpu) labels[i] = this.valueLabel(batch.cpu[i] >>> 0, 0)
        }
        return
      case 'size-class':
        return this.labelSizes(batch, labels)
      default:
        return this.labelValues(batch, this.by as (typeof U64_KEYS)[number], labels)
    }
  }

  private labelValues(batch: EventBatch, field: (typeof U64_KEYS)[number], labels: Uint32Array): void {
    const has = FieldBit[field]
    if ((batch.columns & has) === 0) return
    const { words } = batch[field]
    const { mask, count } = batch
    let lastLo = 0
    let lastHi = 0
    let last = 0
    for (let i = 0; i < count; i++) {
      if ((mask[i] & has) === 0) continue
      const lo = words[2 * i + LO]
      const hi = words[2 * i + HI]
      if (last === 0 || lo !== lastLo || hi !== lastHi) {
        last = this.valueLabel(lo, hi)
        lastLo = lo
        lastHi = hi
      }
      labels[i] = last
    }
  }

  private labelSizes(batch: EventBatch, labels: Uint32Array): void {
    const { mask, count } = batch
    const { words } = batch.size
    const has = FieldBit.size
    for (let i = 0; i < count; i++) {
      if ((mask[i] & has) === 0) continue
      labels[i] = this.codeLabel(sizeClass(words[2 * i + LO], words[2 * i + HI]), CLASSES)
    }
  }

  /** By a hash of the block's key, so that even the events of a block whose beginning is missing stay together. */
  private readonly labelShards: LabelByKey = ({ intents, ends, begins, spaces }, labels, from, to) => {
    for (let i = from, row = 0; i < to; i++, row++) {
      const space = (intents[row] & INDEXED) !== 0 ? 0 : spaces[row]
      let lo = ends[2 * row + LO]
      let hi = ends[2 * row + HI]
      if ((lo | (hi ^ space)) === 0) {
        lo = begins[2 * row + LO]
        hi = begins[2 * row + HI]
      }
      labels[i] = (lo | (hi ^ space)) === 0 ? this.labelOf(NONE) : this.codeLabel(shardOf(lo, hi, this.shards))
    }
  }

  /** The label of a code, whose key is its name, or the code itself if there are no names. */
  private codeLabel(code: number, names?: readonly string[]): number {
    const label = this.labelOfCode[code]
    if (label !== 0) return label
    return (this.labelOfCode[code] = this.labelOf(names === undefined ? String(code) : names[code]))
  }

  private valueLabel(lo: number, hi: number): number {
    const map = this.labelOfValue
    let slot = map.find(lo, hi)
    if (slot < 0) {
      slot = map.add(lo, hi)
      map.values[slot] = this.labelOf(this.keyOf(lo, hi))
    }
    return map.values[slot]
  }

  private keyOf(lo: number, hi: number): string {
    if (this.by === 'cpu') return String(lo | 0)
    const value = wide(lo, hi)
    return this.by === 'heap' ? `0x${value.toString(16)}` : String(value)
  }
}

/** The keys of size classes: 0, 1, 2, 4 ... 2^64. */
const CLASSES = ['0', ...Array.from({ length: 65 }, (_, power) => String(1n << BigInt(power)))]

/** The position in CLASSES of a size's class. */
function sizeClass(lo: number, hi: number): number {
  if ((lo | hi) === 0) return 0
  // The number of bits of the size minus one is the exponent of the power of two.
  const high = lo === 0 ? hi - 1 : hi
  return high === 0 ? 33 - Math.clz32(lo - 1) : 65 - Math.clz32(high)
}

function shardOf(lo: number, hi: number, shards: number): number {
  let h = Math.imul(lo ^ Math.imul(hi, 0x85eb_ca6b), 0x9e37_79b1)
  h = Math.imul(h ^ (h >>> 15), 0x2c1b_3c6d)
  return ((h ^ (h >>> 13)) >>> 0) % shards
}
