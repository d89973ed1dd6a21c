import { FIELDS, FieldBit, type CoreFieldName } from './fields.js'

/** Marks columns of every copy of this package, because columns of one copy pass through the streams of another. */
const WIDE = Symbol.for('heapflow.U64Column')

/** A column of 64-bit unsigned integers, seen as values or, without BigInt, as pairs of words (see `LO` and `HI`). */
export class U64Column {
  /** Event i has its words at `words[2 * i + LO]` and `words[2 * i + HI]`. */
  readonly words: Uint32Array
  readonly values: BigUint64Array

  constructor(buffer: ArrayBuffer, byteOffset: number, length: number) {
    this.words = new Uint32Array(buffer, byteOffset, length * 2)
    this.values = new BigUint64Array(buffer, byteOffset, length)
  }

  get [WIDE](): true {
    return true
  }

  /** Whether this is such a column, of any copy of this package. */
  static [Symbol.hasInstance](column: unknown): column is U64Column {
    return typeof column === 'object' && column !== null && WIDE in column
  }
}

/** The name of the column in `EventBatch` of a field of the core. */
export type ColumnName = Exclude<CoreFieldName, 'count'> | 'elements'

/**
 * The column of the field at position f. The field `count` has the column `elements`, because `count` is the batch's
 * own length.
 */
export function columnOf(f: number): ColumnName {
  const { name } = FIELDS[f]
  return name === 'count' ? 'elements' : name
}

/** The set of fields with 64-bit columns. */
export const U64_FIELDS = setOf('u64', 'address')
/** The set of fields with columns of bytes; those of all others have 32 bits. */
export const BYTE_FIELDS = setOf('api', 'outcome')
const I32_FIELDS = setOf('i32')

function setOf(...types: string[]): number {
  return FIELDS.reduce((set, field) => (types.includes(field.type) ? set | FieldBit[field.name] : set), 0)
}

export type Column = U64Column | Uint32Array | Int32Array | Uint8Array

/** A column and its name. */
interface NamedColumn {
  readonly name: ColumnName
  readonly column: Column
}

/** The columns of a set for this many events, in cleared memory. */
export function placeColumns(set: number, capacity: number): NamedColumn[] {
  return place(
    set,
    capacity,
    new ArrayBuffer(bytesPerEvent(set) * capacity),
    8 * countBits(set & U64_FIELDS) * capacity,
  )
}

/**
 * Places columns in memory: 64-bit columns from its beginning, and the others from byte `words` on, 32-bit columns
 * first. So all are aligned.
 */
function place(set: number, n: number, memory: ArrayBuffer, words: number): NamedColumn[] {
  const columns: NamedColumn[] = []
  let wide = 0
  let bytes = words + 4 * countBits(set & ~(U64_FIELDS | BYTE_FIELDS)) * n
  for (let left = set; left !== 0; left &= left - 1) {
    const f = 31 - Math.clz32(left & -left)
    const name = columnOf(f)
    if ((U64_FIELDS >>> f) & 1) {
      columns.push({ name, column: new U64Column(memory, wide, n) })
      wide += 8 * n
    } else if ((BYTE_FIELDS >>> f) & 1) {
      columns.push({ name, column: new Uint8Array(memory, bytes, n) })
      bytes += n
    } else {
      columns.push({
        name,
        column: (I32_FIELDS >>> f) & 1 ? new Int32Array(memory, words, n) : new Uint32Array(memory, words, n),
      })
      words += 4 * n
    }
  }
  return columns
}

/** The initial memory of a batch: masks, kinds and the columns of a set, in one piece. */
export class Storage {
  readonly mask: Uint32Array
  readonly kind: Uint8Array
  readonly columns: readonly NamedColumn[]
  /** The bytes that it takes. */
  readonly bytes: number

  private constructor(
    readonly capacity: number,
    readonly set: number,
    memory: ArrayBuffer,
  ) {
    this.bytes = memory.byteLength
    const mask = 8 * countBits(set & U64_FIELDS) * capacity
    this.mask = new Uint32Array(memory, mask, capacity)
    this.columns = place(set, capacity, memory, mask + 4 * capacity)
    this.kind = new Uint8Array(memory, memory.byteLength - capacity, capacity)
  }

  /** All zeros. */
  static cleared(capacity: number, set: number): Storage {
    return new Storage(capacity, set, new ArrayBuffer((5 + bytesPerEvent(set)) * capacity))
  }

  /**
   * Uninitialized storage for `count` events or somewhat more. Reuses recycled storage if the size fits: allocating and
   * zeroing costs more than filling it.
   */
  static uncleared(count: number, set: number): Storage {
    if (count < MIN_SPARE) return Storage.cleared(count, set)
    for (let s = spares.length - 1; s >= 0; s--) {
      const spare = spares[s]
      // A much larger one is not used, because a consumer that keeps the batch would keep all of it.
      if (spare.set === set && spare.capacity >= count && spare.capacity <= 2 * count) {
        spares.splice(s, 1)
        return spare
      }
    }
    // Slightly more, so that a next batch of similar size fits, too.
    const step = 2 ** Math.max(0, 28 - Math.clz32(count))
    const capacity = Math.ceil(count / step) * step
    return new Storage(capacity, set, Buffer.allocUnsafeSlow((5 + bytesPerEvent(set)) * capacity).buffer)
  }

  /** Returns the storage to the pool: later batches may reuse it. The caller must not use it again. */
  recycle(): void {
    if (this.capacity < MIN_SPARE || this.bytes > MAX_SPARE_BYTES) return
    if (spares.length === MAX_SPARES) spares.shift()
    spares.push(this)
  }
}

/** The maximum amount of storage in the pool: more than the batches in flight in one pipeline. */
const MAX_SPARES = 8
const MAX_SPARE_BYTES = 1 << 20
/** Storage for fewer events costs little. */
const MIN_SPARE = 64

/** Unused storage, the most recently used last. */
const spares: Storage[] = []

/** The size in bytes of the columns of a set for each event. */
export function bytesPerEvent(set: number): number {
  return (
    8 * countBits(set & U64_FIELDS) + countBits(set & BYTE_FIELDS) + 4 * countBits(set & ~(U64_FIELDS | BYTE_FIELDS))
  )
}

/** The number of fields in a set. */
export function countBits(set: number): number {
  set -= (set >>> 1) & 0x5555_5555
  set = (set & 0x3333_3333) + ((set >>> 2) & 0x3333_3333)
  return Math.imul((set + (set >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}
