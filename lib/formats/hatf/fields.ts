import * as Code from '../../kernel/layouts/hatf.js'
import { FIELD_COUNT, FIELD_NAMES, HEAD, LAID_OUT_TAGS, word } from './layout.js'

const { NONE, DEFAULT } = Code
const {
  F_SIZE: SIZE,
  F_ADDRESS: ADDRESS,
  F_TIME: TIME,
  F_THREAD: THREAD,
  F_HEAP: HEAP,
  F_ATTRIBUTES: ATTRIBUTES,
} = Code

/**
 * The width and interpretation of each field at one place of a stream, as set by the metadata records so far. Code that
 * only moves bytes keeps one of these and passes every metadata record to `apply`; the kernel has its own, which also
 * tracks values.
 */
export class FieldStates {
  /** Width code per field. */
  readonly width = Uint8Array.of(4, 4, 0, 0, 0, 0)
  /** Interpretation per field. */
  readonly interpretation = Uint8Array.of(NONE, NONE, DEFAULT, DEFAULT, DEFAULT, DEFAULT)
  /**
   * The length of a record by tag, including the tag. Attributes that start with their length count that length only.
   */
  readonly lengths = new Uint32Array(LAID_OUT_TAGS)
  /** The number of bytes of the attributes' length, or 0 if attributes have a fixed width. */
  lengthBytes = 0
  /** Per field, the last width that was not 0: interpretations with stored values start with it. */
  private readonly lastWidth = Uint8Array.of(4, 4, 0, 0, 0, 0)

  constructor() {
    this.measure()
  }

  /**
   * Applies the whole metadata record at `pos`.
   * @returns the fault of the record (which then changes nothing), or an empty string
   */
  apply(bytes: Uint8Array, pos: number): string {
    const op = bytes[pos + 1]
    const field = bytes[pos + 2]
    const setting = bytes[pos + 3]
    if (op !== Code.FIELD_SIZE && op !== Code.FIELD_INTERPRETATION) return `unknown metadata operation ${op}`
    if (field >= FIELD_COUNT) return `metadata for the unknown field ${field}`
    const fault =
      op === Code.FIELD_SIZE ? this.setWidth(field, setting) : this.setInterpretation(field, setting, bytes, pos + HEAD)
    if (fault === '') this.measure()
    return fault
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
