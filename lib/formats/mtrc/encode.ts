import { AddressSpaces, SpacesError } from '../../blocks/address-spaces.js'
import { chunkOf } from '../../bytes/chunks.js'
import type { EventBatch } from '../../event/batch.js'
import { unencodable, type TracePosition } from '../../event/error.js'
import { FieldBit, fieldSet } from '../../event/fields.js'
import { NO_HEADER, type TraceHeader } from '../../event/header.js'
import type { Carried, Filling } from '../../event/losses.js'
import * as Note from '../../kernel/layouts/mtrc.js'
import { Losses } from '../../kernel/losses.js'
import type { Encoder } from '../../event/stage.js'
import { KERNEL_EVENTS } from '../../kernel/load.js'
import { ENCODE_OPTIONS, type EncodeOptions } from '../../event/format.js'
import { checkOptions } from '../../event/options.js'
import { mtrcKernel, tooManyBlocks } from './kernel.js'
import { FORMAT, INTERNAL_TYPE, MAGIC, MAX_NAME, hasSources, layoutOf, writeHeader } from './layout.js'

const BLOCK = fieldSet('index', 'address', 'size')
const SOURCE = fieldSet('thread', 'function', 'file', 'line')
const RESERVE = fieldSet('address', 'size', 'type')

/**
 * The fields that traces since 1.4.5 can represent. A free's address and size and a realloc's old address follow from
 * the index.
 */
export const CARRIED: Carried = {
  alloc: BLOCK | SOURCE,
  existing: BLOCK | SOURCE,
  free: BLOCK | SOURCE,
  realloc: BLOCK | SOURCE | FieldBit.oldAddress,
  reserve: RESERVE,
}

/** The fields that the kernel reads of any event. */
const CARRIED_BY_ANY = BLOCK | SOURCE | fieldSet('oldAddress', 'outcome', 'type')

/** The fields that traces before 1.4.5 can represent. */
export const CARRIED_WITHOUT_SOURCES: Carried = {
  alloc: BLOCK,
  existing: BLOCK,
  free: BLOCK,
  realloc: BLOCK | FieldBit.oldAddress,
  reserve: RESERVE,
}

/** The fields that those traces cannot omit. */
export const FILLED: readonly Filling[] = [
  { field: 'thread', kinds: ['alloc', 'existing', 'free', 'realloc'], as: '0' },
  { field: 'line', kinds: ['alloc', 'existing', 'free', 'realloc'], as: '0' },
]

/** The fields with strings that a trace cannot represent. */
const OTHER_STRINGS = fieldSet('stack', 'text', 'attributes', 'fields', 'module')
/** With more strings than this, or more bytes of them, a batch probably has many that no event needs. */
const MANY_STRINGS = 1024
const MANY_STRING_BYTES = 65_536

/** The losses of an event, by the kernel's bits; for names see `unfitness`. */
const NOTES: Readonly<Record<number, string>> = {
  [Note.OTHER_TYPE]: `types of reserves other than "${INTERNAL_TYPE}"`,
  [Note.EXISTING_AS_ALLOC]: 'existing blocks, written as allocs',
  [Note.ALLOC_NOWHERE]: 'allocs without an address',
  [Note.FREE_OF_NULL]: 'frees of null',
  [Note.FREE_OF_UNKNOWN]: 'frees of unknown blocks',
  [Note.NULL_TO_NULL]: 'reallocs of null to null',
  [Note.REALLOC_OF_NULL]: 'reallocs of null, written as allocs',
  [Note.REALLOC_FAILED]: 'failed reallocs',
  [Note.REALLOC_TO_NOTHING]: 'reallocs to nothing, written as frees',
  [Note.REALLOC_OF_UNKNOWN]: 'reallocs of unknown blocks, written as allocs',
  [Note.NO_ADDRESS]: 'no address, written as 0',
  [Note.NO_SIZE]: 'no size, written as 0',
  [Note.NO_INDEX_LEFT]: 'allocs for which there is no index left',
  [Note.INDEX_OF_OTHER]: 'indices that another block got',
  [Note.ADDRESS_OF_UNKNOWN]: 'address of frees of blocks that are not in the trace',
  [Note.SIZE_OF_UNKNOWN]: 'size of frees of blocks that are not in the trace',
  [Note.OLD_ADDRESS_OF_UNKNOWN]: 'oldAddress of reallocs of blocks that are not in the trace',
  [Note.OTHER_ADDRESS]: 'address of frees that is not that of their block',
  [Note.OTHER_SIZE]: 'size of frees that is not that of their block',
  [Note.OTHER_OLD_ADDRESS]: 'oldAddress of reallocs that is not that of their block',
  [Note.ADDRESS_IN_USE]: 'blocks at the address of a live one, which stays live',
}

/**
 * Events to mpatrol tracing output. Events that have an allocation index keep it; others get one by their address. The
 * record of a free is an index alone, so the encoder keeps address and size of every live block, to check whether
 * readers will restore them; memory grows with the number of blocks that are live at once.
 */
export class MtrcEncoder implements Encoder {
  readonly losses: Losses
  readonly consumes = true
  private readonly kernel = mtrcKernel()
  /** Distinguishes blocks at equal addresses, for events that find their index by address. */
  private readonly spaces = new AddressSpaces()
  private header: TraceHeader | undefined
  private batch: EventBatch | undefined
  /** The next event of the batch to write, and one past the last. */
  private row = 0
  private rows = 0
  /** The events of the batch that the kernel has. */
  private first = 0
  private last = 0
  /** The number of events in earlier batches. */
  private events = 0
  private fault: unknown
  /** Whether blocks cannot be distinguished from the last row on. */
  private unclear: SpacesError | undefined

  constructor(options: EncodeOptions = {}) {
    checkOptions(options, ENCODE_OPTIONS, 'MtrcEncoder')
    this.losses = new Losses(FORMAT, CARRIED, options.strict, FILLED)
  }

  feed(batch: EventBatch): void {
    this.batch = batch
    this.row = 0
    this.rows = 0
    this.last = 0
    try {
      if (batch.header !== this.header) this.beginTrace(batch.header)
    } catch (error) {
      this.fault = error
      return
    }
    this.kernel.run.beginBatch()
    this.giveNames(batch)
    this.rows = this.losses.countBatch(batch)
    this.events += batch.count
  }

  dispose(): void {
    this.kernel.dispose()
  }

  next(): Uint8Array | null {
    const { batch, kernel } = this
    if (batch !== undefined && this.fault === undefined) {
      try {
        this.writeRows(batch)
        if (this.row === this.rows) {
          this.batch = undefined
          if (this.unclear !== undefined) this.fault = this.unclear.at(this.here(batch))
          else if (this.rows < batch.count) this.fault = this.losses.errorFor(batch, this.rows)
        }
      } catch (error) {
        this.fault = error
      }
    }
    const written = kernel.run.written.value
    if (written > 0) {
      kernel.run.setWritten(0)
      return chunkOf(kernel.output.subarray(0, written))
    }
    if (this.fault !== undefined) throw this.fault
    return null
  }

  end(): void {
    if (this.header === undefined) this.beginTrace(NO_HEADER)
    this.append(MAGIC)
  }

  endTruncated(): void {
    // A truncated trace has no end marker, and nothing else is held back.
  }

  private beginTrace(header: TraceHeader): void {
    const layout = layoutOf(header)
    if (typeof layout === 'string') throw unencodable(layout, { format: FORMAT, event: this.events + 1 })
    if (this.header !== undefined && layout.follows !== 'cut') this.append(MAGIC)
    this.append(writeHeader(layout))
    this.header = header
    const sources = hasSources(layout)
    this.losses.use(sources ? CARRIED : CARRIED_WITHOUT_SOURCES, sources ? FILLED : [])
    this.spaces.clear()
    this.kernel.run.begin(sources, false, true)
    this.kernel.refresh()
  }

  private append(bytes: Uint8Array): void {
    const { run, output } = this.kernel
    output.set(bytes, run.written.value)
    run.setWritten(run.written.value + bytes.length)
  }

  /**
   * Writes events until the batch or the room for output is used up. If it throws, the output ends with a whole record.
   */
  private writeRows(batch: EventBatch): void {
    const { kernel, rows } = this
    const { run } = kernel
    while (this.row < rows) {
      if (this.row === this.last) {
        this.first = this.row
        this.last = Math.min(rows, this.first + KERNEL_EVENTS)
        kernel.columns.put(batch, this.first, this.last, CARRIED_BY_ANY)
        this.readSpaces(batch)
        if (this.row === this.last) return
      }
      this.row = this.first + run.encode(this.row - this.first, this.last - this.first)
      kernel.refresh()
      if (run.isFull.value !== 0) throw tooManyBlocks(this.here(batch))
      if (run.wanted.value >= 0) this.giveName(batch, run.wanted.value)
      else if (run.notes.value !== 0) this.note(run.notes.value, batch, this.row - 1)
      else if (this.row < this.last) return
    }
  }

  /** Gives the kernel the address spaces, up to the first event whose blocks cannot be distinguished. */
  private readSpaces(batch: EventBatch): void {
    const { run } = this.kernel
    const rows = new Int32Array(run.memory.buffer, run.SPACES.value, KERNEL_EVENTS)
    try {
      run.setSpaces(this.spaces.fill(batch, this.first, this.last, rows))
    } catch (error) {
      if (!(error instanceof SpacesError)) throw error
      this.unclear = error
      this.rows = this.last = error.row
      run.setSpaces(this.spaces.fill(batch, this.first, this.last, rows))
    }
  }

  /** Gives the kernel all strings of the batch at once, if they are few names. It asks for others one by one. */
  private giveNames({ strings, columns }: EventBatch): void {
    const { size, byteLength } = strings
    if (size === 0 || size > MANY_STRINGS || byteLength > MANY_STRING_BYTES || (columns & OTHER_STRINGS) !== 0) return
    const { bytes, starts } = strings.flat()
    // A name with a NUL is unfit.
    if (bytes.includes(0)) return
    const { kernel } = this
    const { run } = kernel
    const address = run.roomForAll(size, byteLength)
    kernel.refresh()
    if (address === 0) return
    const at = address - run.OUTPUT.value
    kernel.output.set(new Uint8Array(starts.buffer, starts.byteOffset, starts.byteLength), at)
    kernel.output.set(bytes, at + starts.byteLength)
    run.defineAll(address, size)
  }

  /** Copies a string of the batch that the kernel requests. */
  private giveName(batch: EventBatch, id: number): void {
    const { kernel } = this
    const { run } = kernel
    const name = batch.strings.view(id)
    if (unfitness(name) !== undefined) {
      run.refuse()
      return
    }
    const at = run.room(name.length)
    kernel.refresh()
    if (at === 0) throw tooManyBlocks(this.here(batch))
    kernel.output.set(name, at - run.OUTPUT.value)
    run.define(name.length)
  }

  private note(notes: number, batch: EventBatch, i: number): void {
    const { run } = this.kernel
    const written = run.written.value
    // An event whose loss is an error leaves no record.
    run.setWritten(run.recordStart.value)
    for (; notes !== 0; notes &= notes - 1) {
      const note = notes & -notes
      const reason =
        NOTES[note] ?? unfitness(batch.strings.view((note === Note.UNFIT_FUNCTION ? batch.function : batch.file)[i]))
      this.losses.countEvent(reason, batch, i)
    }
    run.setWritten(written)
  }

  /** The place of the next event to write. */
  private here(batch: EventBatch): TracePosition {
    return { format: FORMAT, event: this.events - batch.count + this.row + 1 }
  }
}

/** The reason why a name cannot be represented, or undefined. */
function unfitness(name: Uint8Array): string | undefined {
  if (name.length === 0) return 'empty names'
  if (name.length > MAX_NAME) return `names of more than ${MAX_NAME} bytes`
  return name.includes(0) ? 'names with a NUL in them' : undefined
}
