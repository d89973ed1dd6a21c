import type { EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import type { Encoder } from '../../event/stage.js'
import { encodeText } from '../../event/strings.js'
import { LineEncoder } from '../../formats/line-encoder.js'
import { AddressedLosses, spacesTold } from '../../blocks/addressed-losses.js'
import type { Losses } from '../../kernel/losses.js'
import { Chooser } from '../choose.js'
import { lastPart } from '../dtd-name.js'
import { codecOf, type Codec } from '../generate/loops.js'
import { headOf } from './head.js'
import { asciiRecords } from './records.js'
import { AsciiWriter } from './writer.js'
import type { Dtd } from '../model.js'
import { Unwritable } from '../event-writer.js'

/** What the encoder can be told. */
export interface AsciiEncodeOptions {
  /** The format's name in headers and messages. Default `metatf-ascii`. */
  name?: string
  /** Make the first loss an error. Default false. */
  strict?: boolean
  /**
   * The lines that the trace begins with where it was not read from this format, without `##`: `Key: value`.
   * Default: the DTD's name as `DTDURL`.
   */
  head?: readonly string[]
  /** What becomes of the DTD's name, or null, in a head that was read: another DTD has another. Default: it is kept. */
  rename?: (name: string | null) => string | null
}

/**
 * Encodes events as a trace in ASCII by a DTD of Meta-TF 1.2.
 * @throws DtdError if the DTD is not of 1.2, or asks for what lines cannot say
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
  private readonly rename: ((name: string | null) => string | null) | undefined
  private header: TraceHeader | null = null

  constructor(
    dtd: Dtd,
    { name = 'metatf-ascii', strict, head = [`DTDURL: ${lastPart(dtd.file)}`], rename }: AsciiEncodeOptions = {},
    private readonly codec: Codec = codecOf(dtd),
  ) {
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
    this.hasTimes = Object.values(mapping.carried).some((fields) => (fields & (FieldBit.time | FieldBit.endTime)) !== 0)
  }

  protected override write(batch: EventBatch): void {
    const { losses, writer, codec } = this
    const n = losses.countBatch(batch)
    if (batch.header !== this.header) this.writeHead(batch)
    writer.begin(batch, n)
    while (writer.row < n) {
      const position = writer.choose(writer.row)
      if (position < 0) {
        writer.row++
        continue
      }
      try {
        codec.loop('write', position)(writer)
      } catch (error) {
        writer.undo()
        if (!(error instanceof Unwritable)) throw error
        writer.leaveOut(error)
      }
    }
    if (n < batch.count) throw losses.errorFor(batch, n)
  }

  private writeHead(batch: EventBatch): void {
    const head = headOf(this.name, batch.header, this.head, this.hasTimes, this.rename)
    // A trace without a head cannot be told from the one before it.
    if (this.header !== null && head.trim() === '') this.losses.countEvent('beginning of another trace', batch, 0)
    this.header = batch.header
    this.sink.append(encodeText(head))
  }
}
