import { HI, isZero, LO } from '../bytes/u64.js'
import type { EventBatch } from '../event/batch.js'
import { FieldBit, Outcome } from '../event/fields.js'

const { address: HAS_ADDRESS, oldAddress: HAS_OLD_ADDRESS, size: HAS_SIZE, outcome: HAS_OUTCOME } = FieldBit

/** The records that replace a realloc in a format without a record for it: a set of these bits. */
export const Parts = { none: 0, free: 1, alloc: 2, both: 3 } as const

/** The result of `reallocParts`. */
interface ReallocParts {
  /** A set of the bits of `Parts`. */
  readonly parts: number
  /** The reason, for the count of losses. */
  readonly reason: string
}

const LEFT_OUT = (reason: string): ReallocParts => ({ parts: Parts.none, reason })
const NULL_TO_NULL = LEFT_OUT('reallocs of null to null')
const FAILED = LEFT_OUT('failed reallocs')
const NOWHERE = LEFT_OUT('reallocs without an address')
const FREED: ReallocParts = { parts: Parts.free, reason: 'reallocs to nothing, written as frees' }
const ALLOCATED: ReallocParts = { parts: Parts.alloc, reason: 'reallocs of null, written as allocs' }
const UNKNOWN: ReallocParts = { parts: Parts.alloc, reason: 'reallocs of unknown blocks, written as allocs' }
const MOVED: ReallocParts = { parts: Parts.both, reason: 'reallocs, written as free and alloc' }

/**
 * The records for realloc event i: a free of `oldAddress` and an alloc at `address`; if one address is missing, the
 * other is used for both.
 */
export function reallocParts(batch: EventBatch, i: number): ReallocParts {
  const fields = batch.mask[i]
  const outcome = (fields & HAS_OUTCOME) !== 0 ? batch.outcome[i] : undefined
  const known = (fields & HAS_ADDRESS) !== 0
  const oldKnown = (fields & HAS_OLD_ADDRESS) !== 0
  const isNull = outcome === Outcome.freed || (known && isZero(batch.address.words, i))
  const wasNull = outcome === Outcome.allocated || (oldKnown && isZero(batch.oldAddress.words, i))
  if (isNull) {
    if (wasNull) return NULL_TO_NULL
    // A null result for a size other than 0 means that memory was exhausted; the old block remains live.
    const something = (fields & HAS_SIZE) !== 0 && !isZero(batch.size.words, i)
    if (something && outcome !== Outcome.freed) return FAILED
    return oldKnown ? FREED : NOWHERE
  }
  // A block that stayed in place has one address, in either field; null is never a block.
  if (outcome === Outcome.none && !wasNull && (known || oldKnown)) return MOVED
  if (!known) return NOWHERE
  if (wasNull) return ALLOCATED
  return oldKnown ? MOVED : UNKNOWN
}

/**
 * The outcome to assume for realloc event i, which has none of its own, as an index into `OUTCOMES`. Without the old
 * address it is `none`, because an alloc or a free that did not happen would make the trace false.
 */
export function outcomeOf(batch: EventBatch, i: number): number {
  const mask = batch.mask[i]
  if ((mask & HAS_OLD_ADDRESS) === 0) return Outcome.none
  const old = batch.oldAddress.words
  const lo = 2 * i + LO
  const hi = 2 * i + HI
  const { words } = batch.address
  const newLo = (mask & HAS_ADDRESS) !== 0 ? words[lo] : 0
  const newHi = (mask & HAS_ADDRESS) !== 0 ? words[hi] : 0
  const isOldNull = old[lo] === 0 && old[hi] === 0
  if (newLo === 0 && newHi === 0) {
    const isFree = (mask & HAS_SIZE) !== 0 && batch.size.words[lo] === 0 && batch.size.words[hi] === 0
    return isFree && !isOldNull ? Outcome.freed : Outcome.none
  }
  if (isOldNull) return Outcome.allocated
  return old[lo] === newLo && old[hi] === newHi ? Outcome.none : Outcome.moved
}
