import * as Code from '../../../lib/kernel/layouts/hatf.js'
import { HI, LO, WORD } from '../../../lib/bytes/u64.js'
import { FIELD_COUNT, FIELD_NAMES, HEAD, LAID_OUT_TAGS, word, writeWord } from '../../../lib/formats/hatf/layout.js'

const { NONE, DEFAULT, BASE_OFFSET, DELTA } = Code
const {
  F_SIZE: SIZE,
  F_ADDRESS: ADDRESS,
  F_TIME: TIME,
  F_THREAD: THREAD,
  F_HEAP: HEAP,
  F_ATTRIBUTES: ATTRIBUTES,
} = Code

/**
 * How each field is laid out at one place of a stream: what the metadata records so far have set. Reader and writer
 * both keep one of these and pass every metadata record through `apply`.
 */
export class FieldStates {
  /** Width code per field. */
  readonly width = Uint8Array.of(4, 4, 0, 0, 0, 0)
  /** Interpretation per field. */
  readonly interpretation = Uint8Array.of(NONE, NONE, DEFAULT, DEFAULT, DEFAULT, DEFAULT)
  /** Per field, as word pairs: the default, the base offset, or (delta and stride) the previous value. */
  readonly reference = new Uint32Array(FIELD_COUNT * 2)
  /** The bytes of a record by tag, with its tag; of attributes that begin with their length only that length. */
  readonly lengths = new Uint32Array(LAID_OUT_TAGS)
  /** The fields that a metadata record was about, as bits by field code. */
  touched = 0
  /** How many bytes the attributes' length takes, or 0 where they have a fixed width. */
  lengthBytes = 0
  /** Per field, the last width that was not 0: the one that interpretations with stored values begin with. */
  readonly lastWidth = Uint8Array.of(4, 4, 0, 0, 0, 0)
  /** Per field, as word pairs: the stride that the last metadata of that interpretation gave. */
  readonly stride = new Uint32Array(FIELD_COUNT * 2)

  constructor() {
    this.measure()
  }

  /**
   * Takes in the whole metadata record at `pos`.
   * @returns what is wrong with the record (then nothing has changed), or an empty string
   */
  apply(bytes: Uint8Array, pos: number): string {
    const op = bytes[pos + 1]
    const field = bytes[pos + 2]
    const setting = bytes[pos + 3]
    if (op !== Code.FIELD_SIZE && op !== Code.FIELD_INTERPRETATION) return `unknown metadata operation ${op}`
    if (field >= FIELD_COUNT) return `metadata for the unknown field ${field}`
    const fault =
      op === Code.FIELD_SIZE ? this.setWidth(field, setting) : this.setInterpretation(field, setting, bytes, pos + HEAD)
    if (fault === '') {
      this.touched |= 1 << field
      this.measure()
    }
    return fault
  }

  /**
   * The value of field f, whose interpretation is not none, goes to the pair of words at `words[index]`.
   * @param lo @param hi what is stored, not sign-extended yet
   */
  interpret(f: number, lo: number, hi: number, words: Uint32Array, index: number): void {
    const { reference, stride } = this
    const interpretation = this.interpretation[f]
    const refLo = reference[2 * f + LO]
    const refHi = reference[2 * f + HI]
    if (interpretation === DEFAULT) {
      words[index + LO] = refLo
      words[index + HI] = refHi
      return
    }
    if (interpretation === BASE_OFFSET || interpretation === DELTA) {
      const width = this.width[f]
      if (width !== 8) {
        if (width === 1) lo = (lo << 24) >> 24
        else if (width === 2) lo = (lo << 16) >> 16
        hi = (lo | 0) < 0 ? -1 : 0
      }
    } else {
      lo = stride[2 * f + LO]
      hi = stride[2 * f + HI]
    }
    const sum = refLo + (lo >>> 0)
    words[index + LO] = sum
    words[index + HI] = refHi + hi + (sum >= WORD ? 1 : 0)
    if (interpretation !== BASE_OFFSET) {
      reference[2 * f + LO] = words[index + LO]
      reference[2 * f + HI] = words[index + HI]
    }
  }

  private setWidth(field: number, width: number): string {
    const name = FIELD_NAMES[field]
    if (width !== 0 && width !== 1 && width !== 2 && width !== 4 && width !== 8) {
      if (width !== Code.V1 && width !== Code.V2) return `unknown width ${width} for ${name}`
      if (field !== ATTRIBUTES) return `a width of v${width - Code.V1 + 1} for ${name}: only attributes can have that`
    }
    this.width[field] = width
    if (width !== 0) this.lastWidth[field] = width
    return ''
  }

  private setInterpretation(field: number, interpretation: number, bytes: Uint8Array, at: number): string {
    if (interpretation > Code.STRIDE) {
      return `unknown interpretation ${interpretation} for ${FIELD_NAMES[field]}`
    }
    if (field === ATTRIBUTES && interpretation !== NONE) {
      const isEmpty = interpretation === DEFAULT && word(bytes, at) === 0 && word(bytes, at + 4) === 0
      if (!isEmpty)
        return 'attributes are bytes, not numbers: they can be stored as they are (none) or empty (default 0)'
    }
    this.interpretation[field] = interpretation
    this.width[field] = interpretation === DEFAULT || interpretation === Code.STRIDE ? 0 : this.lastWidth[field]
    if (interpretation !== NONE) readPair(bytes, at, this.reference, field)
    if (interpretation === Code.STRIDE) readPair(bytes, at + 8, this.stride, field)
    return ''
  }

  private measure(): void {
    const { width, lengths } = this
    const attributes = width[ATTRIBUTES]
    this.lengthBytes = attributes < Code.V1 ? 0 : attributes - Code.V1 + 1
    const address = width[ADDRESS]
    const threadOnly = 1 + width[THREAD] + width[TIME] + (this.lengthBytes || attributes)
    const heap = threadOnly + width[HEAP]
    const block = heap + width[SIZE] + address
    lengths[Code.TAG_ALLOC] = block
    lengths[Code.TAG_FREE] = heap + address
    for (let tag: number = Code.TAG_REALLOC_NONE; tag <= Code.TAG_REALLOC_FREED; tag++) lengths[tag] = block + address
    lengths[Code.TAG_CREATE_HEAP] = lengths[Code.TAG_DESTROY_HEAP] = heap
    lengths[Code.TAG_CREATE_THREAD] = lengths[Code.TAG_DESTROY_THREAD] = threadOnly
  }
}

function readPair(bytes: Uint8Array, at: number, words: Uint32Array, field: number): void {
  words[2 * field + HI] = word(bytes, at)
  words[2 * field + LO] = word(bytes, at + 4)
}

/** Reads an occurrence of numeric field `f` at `bytes[at]` into the pair of words at `words[index]`. */
export function readField(
  fields: FieldStates,
  f: number,
  bytes: Uint8Array,
  at: number,
  words: Uint32Array,
  index: number,
): void {
  const width = fields.width[f]
  let lo = 0
  let hi = 0
  if (width === 4) lo = word(bytes, at)
  else if (width === 1) lo = bytes[at]
  else if (width === 2) lo = (bytes[at] << 8) | bytes[at + 1]
  else if (width === 8) {
    hi = word(bytes, at)
    lo = word(bytes, at + 4)
  }
  if (fields.interpretation[f] === NONE) {
    words[index + LO] = lo
    words[index + HI] = hi
  } else {
    fields.interpret(f, lo, hi, words, index)
  }
}

/**
 * Writes an occurrence of numeric field `f`, whose value is the pair of words at `words[index]`, to `bytes[at]`. The
 * value must fit the field's width and, where nothing is stored, be what the field's default or stride gives.
 */
export function writeField(
  fields: FieldStates,
  f: number,
  bytes: Uint8Array,
  at: number,
  words: Uint32Array,
  index: number,
): void {
  const width = fields.width[f]
  const interpretation = fields.interpretation[f]
  if (interpretation === DEFAULT && width === 0) return
  let lo = words[index + LO]
  let hi = words[index + HI]
  if (interpretation !== NONE) {
    const { reference } = fields
    const refLo = reference[2 * f + LO]
    const refHi = reference[2 * f + HI]
    if (interpretation > BASE_OFFSET) {
      reference[2 * f + LO] = lo
      reference[2 * f + HI] = hi
    }
    hi = hi - refHi - (lo < refLo ? 1 : 0)
    lo = lo - refLo
  }
  if (width === 4) writeWord(bytes, at, lo)
  else if (width === 1) bytes[at] = lo
  else if (width === 2) {
    bytes[at] = lo >>> 8
    bytes[at + 1] = lo
  } else if (width === 8) {
    writeWord(bytes, at, hi)
    writeWord(bytes, at + 4, lo)
  }
}
