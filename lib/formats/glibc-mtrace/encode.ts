import { ascii, LF, SPACE } from '../../text/ascii.js'
import { HI, isZero, LO, writeHex } from '../../bytes/u64.js'
import { ENCODE_OPTIONS, type EncodeOptions } from '../../event/format.js'
import type { EventBatch, U64Column } from '../../event/batch.js'
import { FieldBit, Kind, Outcome } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import { checkOptions } from '../../event/options.js'
import { AddressedLosses } from '../../blocks/addressed-losses.js'
import type { Losses } from '../../kernel/losses.js'
import { LineEncoder, put } from '../../text/line-encoder.js'
import { Parts, reallocParts } from '../../blocks/realloc.js'
import { isComment } from './comments.js'
import { CARRIED, HEADER, HEADER_WITHOUT_START, NAME, START } from './layout.js'
import { Places } from './places.js'

const { alloc: ALLOC, existing: EXISTING, realloc: REALLOC, free: FREE, comment: COMMENT } = Kind
const { address: HAS_ADDRESS, oldAddress: HAS_OLD_ADDRESS, size: HAS_SIZE, outcome: HAS_OUTCOME } = FieldBit
const { text: HAS_TEXT } = FieldBit

const START_LINE = ascii(`${START}\n`)
const END_LINE = ascii('= End\n')
const NIL = ascii('(nil)')
const ZERO = 0x30
const LETTER_X = 0x78
const OPERATION = { alloc: 0x2b, free: 0x2d, old: 0x3c, new: 0x3e, failed: 0x21 } as const
/** An upper bound for an operation, a pointer and a size. */
const MAX_NUMBERS = 64

/** Encodes events as text in the form that glibc's mtrace writes and its script reads. */
export class MtraceEncoder extends LineEncoder {
  readonly losses: Losses
  private readonly places = new Places()
  private header: TraceHeader | undefined
  /** Whether the trace was read from this format. */
  private own = false
  /**
   * Whether the current event is the first of a realloc's two lines, alone; and whether the last line is such a line.
   */
  private isHalf = false
  private endsInHalf = false

  /** @param options `strict` makes the first loss an error */
  constructor(options: EncodeOptions = {}) {
    super()
    checkOptions(options, ENCODE_OPTIONS, 'MtraceEncoder')
    this.losses = new AddressedLosses(0, NAME, CARRIED, options.strict)
  }

  protected override write(batch: EventBatch): void {
    const { losses } = this
    const n = losses.countBatch(batch)
    if (this.header !== batch.header) this.begin(batch)
    this.places.begin(batch)
    for (let i = 0; i < n; i++) {
      const { pos } = this.sink
      this.isHalf = false
      this.event(batch, i)
      if (this.sink.pos !== pos) this.endsInHalf = this.isHalf
    }
    if (n < batch.count) throw losses.errorFor(batch, n)
  }

  /** After the first of a realloc's two lines, the mark shows that the trace is not truncated. */
  override end(): void {
    if (this.endsInHalf) this.sink.append(END_LINE)
  }

  private begin(batch: EventBatch): void {
    const { header } = batch
    if (this.header !== undefined) {
      this.losses.countEvent('beginning of another trace', batch, 0)
    } else if (header.format !== HEADER.format || header.layout?.['start'] !== HEADER_WITHOUT_START.layout?.['start']) {
      this.sink.append(START_LINE)
    }
    this.header = header
    this.own = header.format === NAME
  }

  private event(batch: EventBatch, i: number): void {
    const fields = batch.mask[i]
    const kind = batch.kind[i]
    if (kind === REALLOC) this.realloc(batch, i)
    else if (kind === COMMENT) this.comment(batch, i)
    else if (kind === ALLOC || kind === EXISTING || kind === FREE) {
      if ((fields & HAS_ADDRESS) === 0) {
        this.losses.countEvent(`${kind === FREE ? 'frees' : 'allocations'} without an address`, batch, i)
        return
      }
      if (kind === FREE && !this.own && isZero(batch.address.words, i)) {
        // glibc does not record these, and its script reports one as a free of a block that was never allocated.
        this.losses.countEvent('frees of null', batch, i)
        return
      }
      if (kind === EXISTING) this.losses.countEvent('existing blocks, written as allocs', batch, i)
      this.note(batch, i, kind !== FREE)
      if (kind === FREE) this.line(batch, i, OPERATION.free, batch.address)
      else this.line(batch, i, OPERATION.alloc, batch.address, true)
    }
  }

  /** A successful realloc has two lines. */
  private realloc(batch: EventBatch, i: number): void {
    const fields = batch.mask[i]
    const { address, oldAddress, size } = batch
    const known = (fields & HAS_ADDRESS) !== 0
    const oldKnown = (fields & HAS_OLD_ADDRESS) !== 0
    const something = known && !isZero(address.words, i)
    const somethingOld = oldKnown && !isZero(oldAddress.words, i)
    const outcome = (fields & HAS_OUTCOME) !== 0 ? batch.outcome[i] : undefined
    const sized = (fields & HAS_SIZE) !== 0
    // Halves of reallocs occur only in traces with lost or repeated lines. A half with more fields than its line has
    // was not read from such a line, and is written like any other realloc.
    if (this.own && outcome === Outcome.freed && somethingOld && !known && !sized) {
      this.note(batch, i, false)
      this.line(batch, i, OPERATION.old, oldAddress)
      this.isHalf = true
    } else if (this.own && outcome === Outcome.allocated && something && !oldKnown) {
      this.note(batch, i, true)
      this.line(batch, i, OPERATION.new, address, true)
    } else if (known && !something && sized && (this.own || !isZero(size.words, i))) {
      // glibc up to 2.17 records a realloc to 0 bytes as one that failed.
      if (outcome !== undefined) this.noteOutcome(batch, i)
      this.note(batch, i, true)
      if (!oldKnown) this.losses.countEvent('no oldAddress, written as null', batch, i)
      this.line(batch, i, OPERATION.failed, oldKnown ? oldAddress : address, true)
    } else {
      this.reallocParts(batch, i, known, oldKnown, outcome)
    }
  }

  private reallocParts(batch: EventBatch, i: number, known: boolean, oldKnown: boolean, outcome?: number): void {
    const { address, oldAddress } = batch
    const { parts, reason } = reallocParts(batch, i)
    if (parts !== Parts.both) this.losses.countEvent(reason, batch, i)
    if (parts === Parts.none) return
    this.note(batch, i, parts !== Parts.free)
    if (parts === Parts.free) {
      this.line(batch, i, OPERATION.free, oldAddress)
    } else if (parts === Parts.alloc) {
      this.line(batch, i, OPERATION.alloc, address, true)
    } else {
      const stayed = !known || !oldKnown || areEqual(batch, i)
      if (outcome !== undefined && (outcome === Outcome.none) !== stayed) this.noteOutcome(batch, i)
      // If the block stayed in place, either address may be missing or null.
      this.line(batch, i, OPERATION.old, oldKnown && !isZero(oldAddress.words, i) ? oldAddress : address)
      this.line(batch, i, OPERATION.new, known && !isZero(address.words, i) ? address : oldAddress, true)
    }
  }

  private noteOutcome(batch: EventBatch, i: number): void {
    this.losses.countEvent('outcome that the addresses do not show', batch, i)
  }

  private comment(batch: EventBatch, i: number): void {
    if ((batch.mask[i] & HAS_TEXT) === 0) {
      this.losses.countEvent('comments without a text', batch, i)
      return
    }
    const text = batch.strings.view(batch.text[i])
    if (!isComment(text)) {
      this.losses.countEvent('comments that would be something else', batch, i)
      return
    }
    this.sink.append(text)
    this.sink.reserve(1)
    this.sink.bytes[this.sink.pos++] = LF
  }

  /** Counts the losses of an event before any of its lines is written. */
  private note(batch: EventBatch, i: number, sized: boolean): void {
    const { places, losses } = this
    places.look(batch, i)
    for (const reason of places.reasons) losses.countEvent(reason, batch, i)
    if (sized && (batch.mask[i] & HAS_SIZE) === 0) losses.countEvent('no size, written as 0', batch, i)
  }

  private line(batch: EventBatch, i: number, operation: number, pointer: U64Column, sized = false): void {
    const { sink } = this
    this.places.write(sink, batch, i)
    sink.reserve(MAX_NUMBERS)
    const { bytes } = sink
    let p = sink.pos
    bytes[p++] = operation
    bytes[p++] = SPACE
    p = isZero(pointer.words, i) ? put(bytes, p, NIL) : putHex(bytes, p, pointer, i)
    if (sized) {
      bytes[p++] = SPACE
      if ((batch.mask[i] & HAS_SIZE) === 0 || isZero(batch.size.words, i)) bytes[p++] = ZERO
      else p = putHex(bytes, p, batch.size, i)
    }
    bytes[p++] = LF
    sink.pos = p
  }
}

function putHex(bytes: Uint8Array, p: number, { words }: U64Column, i: number): number {
  bytes[p++] = ZERO
  bytes[p++] = LETTER_X
  return writeHex(bytes, p, words[2 * i + LO], words[2 * i + HI])
}

/** Whether a realloc's addresses are the same. */
function areEqual({ address, oldAddress }: EventBatch, i: number): boolean {
  const lo = 2 * i + LO
  const hi = 2 * i + HI
  return address.words[lo] === oldAddress.words[lo] && address.words[hi] === oldAddress.words[hi]
}
