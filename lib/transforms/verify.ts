import { Intervals } from '../bytes/intervals.js'
import { HI, LO, WORD, wide } from '../bytes/u64.js'
import type { EventBatch } from '../event/batch.js'
import { FieldBit, Kind } from '../event/fields.js'
import type { TraceHeader } from '../event/header.js'
import { LostCount } from '../event/lost-events.js'
import { showValue } from '../event/message-text.js'
import { checkOptions, wholeNumber, type OptionNames } from '../event/options.js'
import { didYouMean } from '../event/suggest.js'
import { FAULTS, MAX_SIZE, type FaultName } from './option-values.js'
import type { BlockKeys } from '../blocks/block-keys.js'
import { BlockEffect } from '../blocks/block-effect.js'
import { LiveSet } from '../blocks/live-set.js'

const PROCESS_END = Kind['process-end']
const { index: HAS_INDEX, address: HAS_ADDRESS, size: HAS_SIZE, time: HAS_TIME, sequence: HAS_SEQUENCE } = FieldBit
const { thread: HAS_THREAD } = FieldBit

/** One place where a fault was found. */
export interface Finding {
  readonly fault: FaultName
  /** The number of the event, from 1. */
  readonly event: number
  /** A description of the fault. */
  readonly what: string
}

/** Options for checking a trace. */
export interface VerifyOptions {
  /** The faults that are allowed in this trace. */
  readonly allow?: readonly FaultName[]
  /** Sizes above this many bytes are absurd. Default `MAX_SIZE`. */
  readonly maxSize?: bigint
  /** The number of places of each fault that are kept. Default 10. */
  readonly places?: number
}

const OPTIONS: OptionNames<VerifyOptions> = { allow: true, maxSize: 'bigint', places: wholeNumber() }

/**
 * The faults that are allowed.
 * @throws RangeError unless it is a list of their names: otherwise a mistyped one would be reported, or repaired
 */
export function allowedFaults(allow: readonly FaultName[] = []): ReadonlySet<FaultName> {
  if (!Array.isArray(allow)) throw new RangeError(`allow must be an array of faults, not ${showValue(allow)}`)
  for (const name of allow as readonly unknown[]) {
    if ((FAULTS as readonly unknown[]).includes(name)) continue
    const hint = typeof name === 'string' ? didYouMean(name, FAULTS) : ''
    throw new RangeError(`unknown fault ${showValue(name)}${hint}`)
  }
  return new Set(allow)
}

/**
 * The ends of the block that an event begins, in its address space: for checks of size and overlap. Used by one event
 * at a time.
 */
export class Extent {
  startHi = 0
  startLo = 0
  endHi = 0
  endLo = 0
  /** The bits that distinguish the address space, in the high words. */
  space = 0
  private readonly maxHi: number
  private readonly maxLo: number

  /** @throws RangeError when the largest size is not a 64-bit unsigned integer */
  constructor(maxSize: bigint) {
    if (typeof maxSize !== 'bigint' || maxSize < 0n || BigInt.asUintN(64, maxSize) !== maxSize)
      throw new RangeError(`maxSize must be a bigint of at most 64 bits, not ${showValue(maxSize)}`)
    this.maxHi = Number(maxSize >> 32n)
    this.maxLo = Number(maxSize & 0xffff_ffffn)
  }

  /**
   * Takes the block of event i, which begins one.
   * @param keys has the key of the block @param row its row there @returns the fault of its size, if it has one
   */
  take(batch: EventBatch, i: number, keys: BlockKeys, row: number): 'zero-size' | 'absurd-size' | undefined {
    const mask = batch.mask[i]
    const isIndexed = (mask & HAS_INDEX) !== 0
    const isPlaced = isIndexed && (mask & HAS_ADDRESS) !== 0
    let space = keys.spaces[row]
    const lo = isIndexed ? (isPlaced ? batch.address.words[2 * i + LO] : 0) : keys.begins[2 * row + LO] >>> 0
    const hi = isIndexed ? (isPlaced ? batch.address.words[2 * i + HI] : 0) : (keys.begins[2 * row + HI] ^ space) >>> 0
    if ((lo | hi) === 0) space = 0
    this.space = space
    const sizeLo = (mask & HAS_SIZE) !== 0 ? batch.size.words[2 * i + LO] : 0
    const sizeHi = (mask & HAS_SIZE) !== 0 ? batch.size.words[2 * i + HI] : 0
    const endLo = lo + sizeLo
    const endHi = hi + sizeHi + (endLo >= WORD ? 1 : 0)
    this.startLo = lo
    this.startHi = (hi ^ space) >>> 0
    // The end of a block that reaches the very last address does not fit 64 bits.
    this.endLo = endHi >= WORD ? WORD - 1 : endLo >>> 0
    this.endHi = ((endHi >= WORD ? WORD - 1 : endHi) ^ space) >>> 0
    if ((mask & HAS_SIZE) === 0) return undefined
    if ((sizeLo | sizeHi) === 0) return 'zero-size'
    const isAbsurd =
      sizeHi > this.maxHi ||
      (sizeHi === this.maxHi && sizeLo > this.maxLo) ||
      endHi > WORD ||
      (endHi === WORD && endLo >>> 0 > 0)
    return isAbsurd ? 'absurd-size' : undefined
  }

  /** Counts a block of 0 bytes as one of 1 byte. */
  grow(): void {
    this.endLo = (this.startLo + 1) >>> 0
    this.endHi = this.endLo === 0 ? this.startHi + 1 : this.startHi
  }
}

/**
 * Checks a trace as it passes: faults are counted, and the first places of each are kept. Memory grows with the number
 * of live blocks: 100 to 200 bytes for each.
 */
export class Verifier {
  /** The number of events. */
  events = 0
  /** The events that the recorder lost, because of which faults may be false or hidden. */
  readonly lost = new LostCount()
  private readonly liveSet = new LiveSet(2)
  private readonly intervals = new Intervals()
  private readonly extent: Extent
  private readonly allowed: ReadonlySet<FaultName>
  private readonly places: number
  private readonly tally = new Map<FaultName, number>()
  private readonly found = new Map<FaultName, Finding[]>()
  private header: TraceHeader | undefined
  /** The number of events before the current batch. */
  private before = 0
  private timeHi = 0
  private timeLo = 0
  private sequence: number | undefined

  constructor(options: VerifyOptions = {}) {
    checkOptions(options, OPTIONS, 'verify')
    this.allowed = allowedFaults(options.allow)
    this.extent = new Extent(options.maxSize ?? MAX_SIZE)
    this.places = options.places ?? 10
  }

  /** The number of each fault, for the faults that were found. */
  get counts(): ReadonlyMap<FaultName, number> {
    return this.tally
  }

  /** The first places of each fault, in the order of the trace. */
  get findings(): readonly Finding[] {
    return [...this.found.values()].flat().toSorted((a, b) => a.event - b.event)
  }

  /** Ends the checks. What was found can still be read. */
  dispose(): void {
    this.liveSet.dispose()
  }

  /**
   * Checks the next events.
   * @throws SpacesError when blocks cannot be distinguished, after the events before that one
   */
  check(batch: EventBatch): void {
    if (batch.header !== this.header) this.begin(batch.header)
    this.lost.add(batch)
    this.before = this.events
    this.liveSet.followParts(batch, this.before, (from, to) => {
      this.checkRows(batch, from, to)
      this.events = this.before + to
    })
  }

  private checkRows(batch: EventBatch, from: number, to: number): void {
    const { liveSet, extent, intervals } = this
    const { mask } = batch
    const { effects, ended, begun, gone, words, keys } = liveSet
    let next = 0
    for (let i = from; i < to; i++) {
      if ((mask[i] & (HAS_TIME | HAS_SEQUENCE)) !== 0) this.checkOrder(batch, i)
      const row = i - from
      const effect = effects[row]
      if (batch.kind[i] === PROCESS_END) for (; gone[next] === row; next += 2) this.vacate(gone[next + 1])
      if (effect === 0) continue
      if ((effect & BlockEffect.unknown) !== 0)
        this.note((effect & BlockEffect.again) !== 0 ? 'double-free' : 'unknown-free', batch, i)
      if ((effect & BlockEffect.ended) !== 0) this.vacate(ended[row])
      if ((effect & BlockEffect.began) === 0) continue
      const block = begun[row]
      if ((effect & BlockEffect.reused) !== 0) {
        this.note('live-address', batch, i)
        this.vacate(block)
      }
      words[2 * block] = words[2 * block + 1] = 0
      const fault = extent.take(batch, i, keys, row)
      if (fault !== undefined) this.note(fault, batch, i)
      const { startHi, startLo, endHi, endLo } = extent
      if (fault === 'absurd-size' || (startHi | startLo) === 0) continue
      if (intervals.overlap(startHi, startLo, endHi, endLo)) {
        const isSame = intervals.startHi === startHi && intervals.startLo === startLo
        this.note(
          isSame ? 'live-address' : 'overlap',
          batch,
          i,
          isSame ? '' : `, the live one at ${hex(intervals.startHi ^ extent.space, intervals.startLo)}`,
        )
        if (!isSame && !this.outgrows()) continue
      }
      intervals.put(startHi, startLo, endHi, endLo, 0, 0)
      words[2 * block] = startHi
      words[2 * block + 1] = startLo
    }
  }

  /**
   * Removes the interval of a block that is no longer live. The block's words have the start of the interval, if it has
   * one.
   */
  private vacate(block: number): void {
    const { words } = this.liveSet
    const hi = words[2 * block]
    const lo = words[2 * block + 1]
    if (hi !== 0 || lo !== 0) this.intervals.remove(hi, lo)
  }

  /** Records that the trace is truncated after the events so far. @param why the reader's message */
  noteCut(why: string): void {
    this.add('missing-end', this.events + 1, () => why)
  }

  /**
   * Makes room for a block that overlaps others: no two intervals may overlap, because they would hide each other. So
   * only the larger one is kept for comparison with further blocks.
   * @returns whether that is the new one
   */
  private outgrows(): boolean {
    const { intervals, extent } = this
    const { startHi, startLo, endHi, endLo } = extent
    const size = length(startHi, startLo, endHi, endLo)
    do {
      if (length(intervals.startHi, intervals.startLo, intervals.endHi, intervals.endLo) >= size) return false
      intervals.remove(intervals.startHi, intervals.startLo)
    } while (intervals.overlap(startHi, startLo, endHi, endLo))
    return true
  }

  private begin(header: TraceHeader): void {
    this.header = header
    this.liveSet.clear()
    this.intervals.clear()
    this.timeHi = this.timeLo = 0
    this.sequence = undefined
  }

  private checkOrder(batch: EventBatch, i: number): void {
    const mask = batch.mask[i]
    if ((mask & HAS_TIME) !== 0) {
      const hi = batch.time.words[2 * i + HI]
      const lo = batch.time.words[2 * i + LO]
      if (hi < this.timeHi || (hi === this.timeHi && lo < this.timeLo))
        this.noteBackwards(i, `time ${batch.time.values[i]}`)
      this.timeHi = hi
      this.timeLo = lo
    }
    if ((mask & HAS_SEQUENCE) !== 0) {
      const sequence = batch.sequence[i]
      // Serial numbers wrap: of two, the one that is ahead by less than half of all numbers comes later.
      if (this.sequence !== undefined && ((sequence - this.sequence) | 0) < 0)
        this.noteBackwards(i, `sequence number ${sequence}`)
      this.sequence = sequence
    }
  }

  private note(fault: FaultName, batch: EventBatch, i: number, more = ''): void {
    this.add(fault, this.before + i + 1, () => describe(fault, batch, i) + more)
  }

  private noteBackwards(i: number, what: string): void {
    this.add('time-backwards', this.before + i + 1, () => `${what} is before that of the event before`)
  }

  private add(fault: FaultName, event: number, what: () => string): void {
    if (this.allowed.has(fault)) return
    const n = (this.tally.get(fault) ?? 0) + 1
    this.tally.set(fault, n)
    if (n > this.places) return
    const places = this.found.get(fault) ?? []
    places.push({ fault, event, what: what() })
    this.found.set(fault, places)
  }
}

function length(startHi: number, startLo: number, endHi: number, endLo: number): number {
  return (endHi - startHi) * WORD + (endLo - startLo)
}

function describe(fault: FaultName, batch: EventBatch, i: number): string {
  const mask = batch.mask[i]
  const event = batch.event(i)
  const isRealloc = event.kind === 'realloc'
  const block =
    event.index === undefined
      ? `0x${((isRealloc ? event.oldAddress : event.address) ?? 0n).toString(16)}`
      : `index ${event.index}`
  const begun = event.address === undefined ? `index ${event.index}` : `0x${event.address.toString(16)}`
  const by = (mask & HAS_THREAD) !== 0 ? ` by thread ${event.thread}` : ''
  const sized = event.size === undefined ? event.kind : `${event.kind} of ${event.size} bytes`
  if (fault === 'unknown-free') return `${event.kind} of ${block}${by}: the block is not live`
  if (fault === 'double-free') return `${event.kind} of ${block}${by}: the block was freed before`
  if (fault === 'live-address') return `${sized} at ${begun}${by}, where a block is live`
  if (fault === 'overlap') return `${sized} at ${begun}${by} runs into another block`
  return `${sized} at ${begun}${by}`
}

function hex(hi: number, lo: number): string {
  return `0x${wide(lo, hi >>> 0).toString(16)}`
}
