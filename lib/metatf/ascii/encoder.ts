import { AddressedLosses, spacesTold } from '../../blocks/addressed-losses.js'
import { SPACE, ZERO } from '../../text/ascii.js'
import { HI, LO, writeDecimal, writeHex } from '../../bytes/u64.js'
import { columnOf, type EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import { ENCODE_OPTIONS, type EncodeOptions } from '../../event/format.js'
import type { TimeUnit, TraceHeader } from '../../event/header.js'
import { checkOptions, TEXTS, type OptionNames } from '../../event/options.js'
import type { Encoder } from '../../event/stage.js'
import { encodeText } from '../../event/strings.js'
import { LineEncoder } from '../../text/line-encoder.js'
import type { Losses } from '../../kernel/losses.js'
import { lastPart } from '../dtd-name.js'
import { EventWriter, Origin, Unwritable } from '../event-writer.js'
import { type Codec, codecOf } from '../generate/loops.js'
import { type Layout, Mode } from '../layout.js'
import type { RecordMapping } from '../mapping.js'
import type { Dtd } from '../model.js'
import { timeUnitOf } from '../names.js'
import { addPair, samePair, subtractPair } from '../pairs.js'
import { Chooser } from '../record-choice.js'
import { headOf, MAX_LINE, MAX_LINE_VALUES, timeUnitIn } from './head.js'
import { asciiRecords } from './reader.js'
import { isHex, isStored, writeQuoted } from './tokens.js'

const LETTER_X = 0x78
const MINUS = 0x2d
const NO_TEXT = new Uint8Array(0)

/** The object that generated code for writing lines works on. */
export class AsciiWriter extends EventWriter {
  protected readonly maxValues = MAX_LINE_VALUES
  private readonly next = new Uint32Array(2)

  /** @param byPosition the layouts of records by their positions in the mapping */
  constructor(
    mappings: readonly RecordMapping[],
    chooser: Chooser,
    losses: Losses,
    readonly byPosition: readonly (Layout | undefined)[],
  ) {
    super(mappings, chooser, losses)
  }

  override put(layout: Layout, p: number, at: number, lo: number, hi: number, origin: number = Origin.given): number {
    const { pair, next } = this
    const { reference, latest, mode } = layout
    pair[LO] = lo
    pair[HI] = hi
    const isStride = mode[p] === Mode.stride
    if (isStride || mode[p] === Mode.default) {
      // Readers use the value that the DTD defines.
      next[0] = reference[2 * p]
      next[1] = reference[2 * p + 1]
      if (isStride) addPair(next, 0, layout.stride, 2 * p)
      if (origin !== Origin.absent && !samePair(pair, 0, next, 0)) {
        if (origin === Origin.implied) throw new Unwritable('a number that the DTD does not let it have')
        this.note(`${layout.record.leaves[p].name} other than what the DTD makes it`)
      }
      reference.set(next, 2 * p)
      latest.set(next, 2 * p)
      return at
    }
    latest[2 * p] = pair[0]
    latest[2 * p + 1] = pair[1]
    const isDifference = mode[p] === Mode.baseOffset || mode[p] === Mode.delta
    if (isDifference) subtractPair(pair, 0, reference, 2 * p)
    if (mode[p] === Mode.delta) reference.set(latest.subarray(2 * p, 2 * p + 2), 2 * p)
    return this.word(at, pair[LO], pair[HI], isDifference, isHex(layout.record.leaves[p]))
  }

  private word(at: number, lo: number, hi: number, isSigned: boolean, hex: boolean): number {
    const { bytes } = this.sink
    bytes[at++] = SPACE
    if (hex) {
      bytes[at++] = ZERO
      bytes[at++] = LETTER_X
      return writeHex(bytes, at, lo, hi)
    }
    if (!isSigned || hi < 0x8000_0000) return writeDecimal(bytes, at, lo, hi)
    bytes[at++] = MINUS
    return writeDecimal(bytes, at, -lo >>> 0, lo === 0 ? -hi >>> 0 : ~hi >>> 0)
  }

  protected override absent(layout: Layout, p: number, at: number): number {
    this.noteAbsent(layout, p)
    return this.put(layout, p, at, 0, 0, Origin.absent)
  }

  private noteAbsent({ mapping }: Layout, p: number): void {
    const { leaf, field } = (mapping as RecordMapping).leaves[p]
    // Missing fields that records always have were counted before.
    const isCounted = field >= 0 && ((mapping as RecordMapping).needs & (1 << field)) !== 0
    if (isStored(leaf) && !isCounted) this.note(`no ${leaf.name}, written as 0 or empty`)
  }

  /** Notes that the event does not have a string. */
  noData(layout: Layout, p: number): Uint8Array {
    if (layout.record.leaves[p].value === null) this.noteAbsent(layout, p)
    return NO_TEXT
  }

  /** A string from `fields`. */
  dataOf(value: unknown): Uint8Array {
    if (typeof value !== 'string') throw new Unwritable('a value where a string should be')
    return encodeText(value)
  }

  columnData(_layout: Layout, _p: number, field: number, i: number): Uint8Array {
    return this.batch.strings.view((this.batch[columnOf(field)] as Uint32Array)[i])
  }

  /** Writes the string of leaf p to `sink.bytes[at]`, where there must be room. */
  data({ record }: Layout, p: number, at: number, text: Uint8Array): number {
    const { name, value, interpretation: how } = record.leaves[p]
    const must = value ?? (how.kind === 'default' ? how.value : null)
    if (must?.kind === 'string') {
      const is = encodeText(must.value)
      if (text !== NO_TEXT && Buffer.compare(is, text) !== 0)
        this.note(`${name} of ${record.name} that is not what it always is there`)
      text = is
    }
    if (how.kind === 'default') return at
    const { sink } = this
    const { pos } = sink
    sink.pos = at
    sink.bytes[sink.pos++] = SPACE
    writeQuoted(sink, text)
    const after = sink.pos
    sink.pos = pos
    return after
  }

  tooLong(): never {
    throw new Unwritable(`values that make a line of more than ${MAX_LINE} bytes`)
  }
}

export interface AsciiEncodeOptions extends EncodeOptions {
  /** The format's name in headers and messages. Default `metatf-ascii`. */
  name?: string
  /**
   * The first lines of a trace that was not read from this format, without `##`: `Key: value`. Default: the DTD's name
   * as `DTDURL`.
   */
  head?: readonly string[]
  /**
   * Maps the DTD's name, or null, in a head that was read, because another DTD has another name. Default: no change.
   */
  rename?: (name: string | null) => string | null
}

const OPTIONS: OptionNames<AsciiEncodeOptions> = { ...ENCODE_OPTIONS, name: 'string', head: TEXTS, rename: 'function' }

/**
 * Encodes events as a trace in ASCII by a DTD of Meta-TF 1.2.
 * @throws DtdError if the DTD is not of 1.2, or needs something that lines cannot represent
 */
export function asciiEncoder(dtd: Dtd, options?: AsciiEncodeOptions): Encoder {
  return new AsciiEncoder(dtd, options)
}

/** Encodes events as lines in canonical form: single spaces, numbers without leading zeros, hex in lower case. */
export class AsciiEncoder extends LineEncoder {
  readonly losses: Losses
  private readonly name: string
  private readonly writer: AsciiWriter
  private readonly head: readonly string[]
  private readonly hasTimes: boolean
  /** The unit of times that the DTD states. */
  private readonly unit: TimeUnit | undefined
  private readonly rename: ((name: string | null) => string | null) | undefined
  private header: TraceHeader | null = null

  constructor(
    dtd: Dtd,
    options: AsciiEncodeOptions = {},
    private readonly codec: Codec = codecOf(dtd),
  ) {
    checkOptions(options, OPTIONS, 'asciiEncoder')
    const { name = 'metatf-ascii', strict, head = [`DTDURL: ${lastPart(dtd.file)}`], rename } = options
    const { mapping } = codec
    const losses = new AddressedLosses(spacesTold(mapping.carried), name, mapping.carried, strict)
    const { byPosition } = asciiRecords(dtd, mapping)
    const writer = new AsciiWriter(mapping.records, new Chooser(mapping, losses), losses, byPosition)
    super(writer.sink)
    this.name = name
    this.head = head
    this.rename = rename
    this.losses = losses
    this.writer = writer
    this.unit = timeUnitOf(dtd).timeUnit
    this.hasTimes = Object.values(mapping.carried).some((fields) => (fields & (FieldBit.time | FieldBit.endTime)) !== 0)
  }

  protected override write(batch: EventBatch): void {
    const { losses, writer, codec } = this
    const isNew = batch.header !== this.header
    const head = isNew ? this.headFor(batch.header) : ''
    const n = losses.countBatch(batch)
    if (isNew) this.writeHead(batch, head)
    writer.write(batch, n, (position) => codec.loop('write', position))
    if (n < batch.count) throw losses.errorFor(batch, n)
  }

  /**
   * The lines before the records of a trace. From now on, losses depend on the unit that these lines and the DTD state.
   */
  private headFor(header: TraceHeader): string {
    const head = headOf(this.name, header, this.head, this.hasTimes, this.rename)
    const unit = timeUnitIn(head) ?? this.unit
    this.losses.useUnit(unit === undefined || header.timeUnit === undefined ? (unit ?? null) : undefined)
    return head
  }

  private writeHead(batch: EventBatch, head: string): void {
    // A trace without a head cannot be distinguished from the previous one.
    if (this.header !== null && head.trim() === '') this.losses.countEvent('beginning of another trace', batch, 0)
    this.header = batch.header
    this.sink.append(encodeText(head))
  }
}
