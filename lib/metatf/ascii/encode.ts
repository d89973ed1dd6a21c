import { LF, SPACE, ZERO } from '../../bytes/ascii.js'
import { HI, LO, MAX_DECIMAL, writeDecimal, writeDecimal32, writeHex } from '../../bytes/u64.js'
import { U64Column, columnOf, type EventBatch } from '../../event/batch.js'
import { FIELDS, Has } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import { AddressedLosses, spacesTold } from '../../blocks/addressed-losses.js'
import type { Losses } from '../../kernel/losses.js'
import type { Encoder } from '../../event/stage.js'
import { encodeText } from '../../event/strings.js'
import { LineEncoder } from '../../formats/line-encoder.js'
import { Chooser } from '../choose.js'
import { lastPart } from '../dtd-name.js'
import { checkVersion } from '../loop-version.js'
import type { Dtd } from '../model.js'
import { headOf } from './layout.js'
import type { LineLoops } from './loops.js'
import { programsOf, type Program } from './program.js'
import { RecordWriter } from './write-record.js'

const NO_WORDS = new Uint32Array(0)
const LETTER_X = 0x78
const WORD_BYTES = MAX_DECIMAL + 3

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
 * @param loops what `compileDtd` made of the DTD, which writes the same faster
 * @throws DtdError if the DTD is not of 1.2, or asks for what lines cannot say
 */
export function asciiEncoder(dtd: Dtd, options?: AsciiEncodeOptions, loops?: LineLoops): Encoder {
  return new AsciiEncoder(dtd, options, loops)
}

/** Encodes events as lines in canonical form: single blanks, numbers without leading zeros, hex in lower case. */
export class AsciiEncoder extends LineEncoder {
  readonly losses: Losses
  private readonly name: string
  private readonly programs: readonly Program[]
  private readonly chooser: Chooser
  /** What loops choose records by. */
  private readonly certain: Int32Array
  private readonly writers: readonly RecordWriter[]
  private readonly head: readonly string[]
  private readonly hasTimes: boolean
  private readonly rename: ((name: string | null) => string | null) | undefined
  private header: TraceHeader | null = null

  constructor(
    dtd: Dtd,
    { name = 'metatf-ascii', strict, head = [`DTDURL: ${lastPart(dtd.file)}`], rename }: AsciiEncodeOptions = {},
    private readonly loops?: LineLoops,
  ) {
    super()
    if (loops !== undefined) checkVersion(loops)
    const { mapping, programs } = programsOf(dtd)
    this.name = name
    this.head = head
    this.rename = rename
    this.programs = programs
    this.hasTimes = Object.values(mapping.carried).some((fields) => (fields & (Has.time | Has.endTime)) !== 0)
    this.losses = new AddressedLosses(spacesTold(mapping.carried), name, mapping.carried, strict)
    this.chooser = new Chooser(mapping, this.losses)
    this.certain = this.chooser.certain
    this.writers = programs.map((program) => new RecordWriter(program, this.sink))
  }

  protected override write(batch: EventBatch): void {
    const { losses, sink, chooser, programs } = this
    const n = losses.admit(batch)
    if (batch.header !== this.header) this.writeHead(batch)
    const { mask } = batch
    const words = FIELDS.map((_, f) => {
      const column = batch[columnOf(f)]
      return column instanceof U64Column ? column.words : NO_WORDS
    })

    for (let i = this.runLoop(batch, 0, n); i < n; i = this.runLoop(batch, i + 1, n)) {
      const chosen = chooser.choose(batch, i)
      if (chosen < 0) continue
      const { mapping, simple, hex, tag } = programs[chosen] as Program
      chooser.compare(batch, i, mapping)
      if (simple === null) {
        const isWritten = (this.writers[chosen] as RecordWriter).write(batch, i, (reason) =>
          losses.note(reason, batch, i),
        )
        if (isWritten) sink.append(NEWLINE)
        continue
      }
      sink.reserve((simple.length + 1) * WORD_BYTES)
      const out = sink.bytes
      const fields = mask[i] as number
      let p = writeDecimal32(out, sink.pos, tag)
      for (let k = 0; k < simple.length; k++) {
        const f = simple[k] as number
        const column = words[f] as Uint32Array
        const isThere = ((fields >>> f) & 1) !== 0
        const lo = isThere ? (column[2 * i + LO] as number) : 0
        const hi = isThere ? (column[2 * i + HI] as number) : 0
        out[p++] = SPACE
        if (hex[k] === 1) {
          out[p++] = ZERO
          out[p++] = LETTER_X
          p = writeHex(out, p, lo, hi)
        } else {
          p = writeDecimal(out, p, lo, hi)
        }
      }
      out[p++] = LF
      sink.pos = p
    }
    if (n < batch.count) throw losses.refusal(batch, n)
  }

  /** Has the compiled loop write what it can of the events from i on. Returns the first that it has not written. */
  private runLoop(batch: EventBatch, i: number, end: number): number {
    if (this.loops === undefined || i >= end) return i
    const cursor = { sink: this.sink, row: i, end, table: this.certain }
    this.loops.write(batch, cursor)
    return cursor.row
  }

  private writeHead(batch: EventBatch): void {
    const head = headOf(this.name, batch.header, this.head, this.hasTimes, this.rename)
    // A trace without a head cannot be told from the one before it.
    if (this.header !== null && head.trim() === '') this.losses.note('beginning of another trace', batch, 0)
    this.header = batch.header
    this.sink.append(encodeText(head))
  }
}

const NEWLINE = Uint8Array.of(LF)
