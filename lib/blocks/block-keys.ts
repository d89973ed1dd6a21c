import { HI, LO } from '../bytes/u64.js'
import type { EventBatch, U64Column } from '../event/batch.js'
import { Api, FieldBit, fieldSet, Kind, Outcome } from '../event/fields.js'
import { BY_KERNEL, INDEXED, LEAVES, NO_SPACE } from '../kernel/layouts/live.js'
import { AddressSpaces, PAGE_BIT } from './address-spaces.js'
import { BlockEffect } from './block-effect.js'

const HAS_ADDRESS = FieldBit.address
const HAS_OLD_ADDRESS = FieldBit.oldAddress
const HAS_INDEX = FieldBit.index
const HAS_SIZE = FieldBit.size
const HAS_OUTCOME = FieldBit.outcome
const HAS_API = FieldBit.api
const HAS_PROCESS = FieldBit.process
const {
  existing: EXISTING,
  free: FREE,
  realloc: REALLOC,
  'process-end': PROCESS_END,
  'thread-destroy': THREAD_END,
} = Kind
const { none: STAYED, allocated: ALLOCATED, freed: FREED } = Outcome
const { began: BEGAN, ended: ENDED, nothing: NOTHING, failed: FAILED } = BlockEffect

/** The APIs from `kmalloc` on are those of a kernel. */
const { kmalloc: KMALLOC, pages: PAGES } = Api

export { INDEXED }

/** The fields by which the kernel identifies the blocks of an event. */
export const KEY_FIELDS = fieldSet('api', 'index', 'address', 'oldAddress', 'size', 'outcome')
/** What separates address spaces. */
const HAS_SPACE = HAS_PROCESS | HAS_API

/**
 * The blocks that the events of a batch concern, row by row, in the memory of a live set. A block's key is its
 * allocation index if the event has one (mpatrol never reuses them), otherwise its address in its address space (see
 * `AddressSpaces`).
 */
export class BlockKeys {
  /**
   * Per row, the intended effect as `BlockEffect` bits (`ended`, `began`, `nothing`, `failed`); 0 for events that do
   * not concern a block. With some more bits for kernel/live.ts.
   */
  intents = new Uint8Array(0)
  /** The keys of the block to be ended and of that which begins, as pairs of words (see `LO` and `HI`). */
  ends = new Int32Array(0)
  begins = this.ends
  /** What sets the address space of the event apart: keys contain it, unless they are indices. */
  spaces = this.ends
  /** Some of them are not 0. */
  private hasSpaces = false
  /** Some event of this trace has a process. */
  hasProcesses = false
  /** What `identify` found. */
  readonly one = { isIndexed: false, endsLo: 0, endsHi: 0, beginsLo: 0, beginsHi: 0 }

  /** @param addressSpaces distinguish equal addresses */
  constructor(private readonly addressSpaces = new AddressSpaces()) {}

  /** Another trace begins. */
  clear(): void {
    this.addressSpaces.clear()
    this.hasProcesses = false
  }

  /** Finds the address spaces of events `from` to `to` of a batch; kernel/live/keys.ts does the rest. */
  readSpaces(batch: EventBatch, from: number, to: number): void {
    const { spaces, addressSpaces } = this
    // Where processes are not told apart, no process ends, also not one that has no number.
    if ((batch.columns & HAS_SPACE) === 0 && addressSpaces.tellsProcesses) {
      if (this.hasSpaces) spaces.fill(0)
      this.hasSpaces = false
      return
    }
    const { kind, mask, api } = batch
    let all = 0
    let ofThreads = 0
    for (let i = from, row = 0; i < to; i++, row++) {
      const fields = mask[i]
      const isSet =
        ((fields & HAS_PROCESS) !== 0 || ((fields & HAS_API) !== 0 && api[i] === PAGES)) &&
        // Events that are about no block must not number a process.
        kind[i] <= EXISTING
      const isThreads = kind[i] === THREAD_END
      const isEnd = isThreads || kind[i] === PROCESS_END
      const space = isSet ? addressSpaces.of(batch, i) : isEnd ? addressSpaces.known(batch, i) : 0
      spaces[row] = space
      if (isThreads) ofThreads |= space
      else all |= space
    }
    this.hasSpaces ||= (all | ofThreads) !== 0
    this.hasProcesses ||= (all & ~PAGE_BIT) !== 0
  }

  /** Reads event i of a batch to row 0. For many events, `LiveSet.read` is faster. */
  readOne(batch: EventBatch, i: number): void {
    const { intents, ends, begins } = this
    this.readSpaces(batch, i, i + 1)
    const space = this.spaces[0]
    const kind = batch.kind[i]
    const mask = batch.mask[i]
    let keySpace = space
    let more = (mask & HAS_API) !== 0 && batch.api[i] >= KMALLOC ? BY_KERNEL : 0
    let lo = 0
    let hi = 0
    if ((mask & HAS_INDEX) !== 0) {
      lo = batch.index.words[2 * i + LO] | 0
      hi = batch.index.words[2 * i + HI] | 0
      more |= INDEXED
      keySpace = 0
    } else if ((mask & HAS_ADDRESS) !== 0) {
      lo = batch.address.words[2 * i + LO] | 0
      hi = batch.address.words[2 * i + HI] | 0
    }
    ends[LO] = begins[LO] = lo
    ends[HI] = begins[HI] = hi ^ keySpace
    if (kind > EXISTING) {
      intents[0] = kind === PROCESS_END && space !== NO_SPACE ? LEAVES : 0
      return
    }
    const isNull = (lo | hi) === 0
    let intent: number = isNull ? FAILED : BEGAN
    if (kind === FREE) intent = isNull ? NOTHING : ENDED
    else if (kind === REALLOC) {
      if (more >= INDEXED) intent = endsBlock(batch, i) ? ENDED : failsIndexed(batch, i) ? FAILED : ENDED | BEGAN
      else intent = this.realloc(batch, i, lo, hi, space)
    } else if (isNull) more &= ~INDEXED
    intents[0] = intent | more
  }

  /**
   * Finds out which blocks a single event is about: row 0, and `one`, have them.
   * @returns which of the two there are, as `intents`, but without the bits for the kernel
   */
  identify(batch: EventBatch, i: number): number {
    this.readOne(batch, i)
    const { one, ends, begins } = this
    const intent = this.intents[0]
    one.isIndexed = (intent & INDEXED) !== 0
    one.endsLo = ends[LO]
    one.endsHi = ends[HI]
    one.beginsLo = begins[LO]
    one.beginsHi = begins[HI]
    return intent & ~(INDEXED | BY_KERNEL)
  }

  /** What sets the address space of an event apart. */
  spaceOf(batch: EventBatch, i: number): number {
    return this.addressSpaces.of(batch, i)
  }

  /** A realloc of a block that is known by its address. */
  private realloc(batch: EventBatch, i: number, lo: number, hi: number, space: number): number {
    const mask = batch.mask[i]
    const outcome = (mask & HAS_OUTCOME) !== 0 ? batch.outcome[i] : -1
    const { words } = batch.oldAddress
    const hasOld = (mask & HAS_OLD_ADDRESS) !== 0 && outcome !== ALLOCATED
    let oldLo = hasOld ? words[2 * i + LO] | 0 : 0
    let oldHi = hasOld ? words[2 * i + HI] | 0 : 0
    if (outcome === STAYED) {
      // One address is enough to say where the block stayed.
      if ((mask & HAS_OLD_ADDRESS) === 0) {
        oldLo = lo
        oldHi = hi
      } else if ((mask & HAS_ADDRESS) === 0) {
        lo = oldLo
        hi = oldHi
      }
    }
    const { ends, begins } = this
    begins[LO] = lo
    begins[HI] = hi ^ space
    ends[LO] = oldLo
    ends[HI] = oldHi ^ space
    const isOldNull = (oldLo | oldHi) === 0
    if ((lo | hi) !== 0 && outcome !== FREED) return isOldNull ? BEGAN : BEGAN | ENDED
    if (!endsBlock(batch, i)) return FAILED
    return isOldNull ? NOTHING : ENDED
  }
}

/**
 * Whether a realloc freed its block: by its outcome, or because it gives no new address and did not ask for any bytes.
 * One that asked for some and got none failed, and the old block lives on.
 */
function endsBlock(batch: EventBatch, i: number): boolean {
  const mask = batch.mask[i]
  if ((mask & HAS_OUTCOME) !== 0) {
    if (batch.outcome[i] === FREED) return true
    if (batch.outcome[i] === STAYED) return false
  }
  return isZero(batch.address, i, mask, HAS_ADDRESS) && isZero(batch.size, i, mask, HAS_SIZE)
}

/**
 * Whether a realloc of a block that is known by its index failed: it asked for some bytes, gives the old address, and
 * got no new one. Without addresses, nothing says so.
 */
function failsIndexed(batch: EventBatch, i: number): boolean {
  const mask = batch.mask[i]
  return (
    (mask & (HAS_OLD_ADDRESS | HAS_OUTCOME)) === HAS_OLD_ADDRESS &&
    isZero(batch.address, i, mask, HAS_ADDRESS) &&
    !isZero(batch.size, i, mask, HAS_SIZE)
  )
}

function isZero(column: U64Column, i: number, mask: number, has: number): boolean {
  return (mask & has) === 0 || (column.words[2 * i] | column.words[2 * i + 1]) === 0
}
