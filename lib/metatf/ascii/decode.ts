import { CR, LF, SPACE, TAB, ZERO } from '../../bytes/ascii.js'
import { Input } from '../../bytes/input.js'
import { decimal, gap } from '../../bytes/numbers.js'
import { HI, LO } from '../../bytes/u64.js'
import { BATCH_EVENTS, BATCH_STRING_BYTES, EventBatch, U64Column, columnOf } from '../../event/batch.js'
import { describe, limit, malformed, truncated, type TraceError } from '../../event/error.js'
import { FIELDS, Has } from '../../event/fields.js'
import type { TimeUnit, TraceHeader } from '../../event/header.js'
import type { Decoder } from '../../event/stage.js'
import { decodeText } from '../../event/strings.js'
import { checkVersion } from '../loop-version.js'
import type { Dtd } from '../model.js'
import { timeUnitOf } from '../time-unit.js'
import { headerOf, isHeadLine, MAX_HEAD, MAX_LINE } from './layout.js'
import type { LineLoops } from './loops.js'
import { programsOf, type Program } from './program.js'
import { RecordReader } from './read-record.js'
import { lineEnd, unsigned } from './words.js'

const HAS_OUTCOME = Has.outcome
const HAS_API = Has.api
const HAS_CODE = Has.code

const HASH = 0x23
const NEWLINE = Uint8Array.of(LF)
const NOTHING = new Uint8Array(0)
const NO_WORDS = new Uint32Array(0)

const MIN_CAPACITY = 16
const USUAL_BYTES_PER_EVENT = 20
/** Tags below this are looked up in an array. */
const SMALL_TAGS = 256

/** What the decoder can be told. */
export interface AsciiDecodeOptions {
  /** The format's name in headers and messages. Default `metatf-ascii`. */
  name?: string
}

/**
 * Decodes a trace in ASCII by a DTD of Meta-TF 1.2.
 * @param loops what `compileDtd` made of the DTD, which reads the same faster
 * @throws DtdError if the DTD is not of 1.2, or asks for what lines cannot say
 */
export function asciiDecoder(dtd: Dtd, options?: AsciiDecodeOptions, loops?: LineLoops): Decoder {
  return new AsciiDecoder(dtd, options, loops)
}

/**
 * Decodes traces in ASCII. It only looks at lines whose line feed is there, so that no reader needs to look for the end
 * of the input: the line feed stops them all.
 */
export class AsciiDecoder implements Decoder {
  readonly warnings: string[] = []
  private readonly name: string
  private readonly timeUnit: TimeUnit | undefined
  private readonly programs: readonly Program[]
  /** Programs by tag: position + 1, 0 for none. */
  private readonly bySmallTag = new Uint16Array(SMALL_TAGS)
  private readonly byTag = new Map<number, number>()
  /** Readers of the records that are not simple, by position. */
  private readonly readers: readonly (RecordReader | null)[]
  private readonly input = new Input()
  /** One past the last line feed in the input. */
  private lines = 0
  private line = 1
  private events = 0
  private columns = 0
  private header: TraceHeader | undefined
  /** The lines of the head that is being read; null among records. */
  private head: Uint8Array | null = NOTHING
  /** The header of the batch that was given last. */
  private announced: TraceHeader | undefined
  private ended = false
  /** The last line had no line feed; one was put behind it. */
  private unterminated = false
  private failure: TraceError | null = null

  constructor(
    dtd: Dtd,
    { name = 'metatf-ascii' }: AsciiDecodeOptions = {},
    private readonly loops?: LineLoops,
  ) {
    if (loops !== undefined) checkVersion(loops)
    this.name = name
    this.timeUnit = timeUnitOf(dtd).timeUnit
    this.programs = programsOf(dtd).programs
    this.readers = this.programs.map((program) => (program.simple === null ? new RecordReader(program) : null))
    for (const [position, { tag }] of this.programs.entries()) {
      if (tag < SMALL_TAGS) this.bySmallTag[tag] = position + 1
      else this.byTag.set(tag, position + 1)
    }
  }

  feed(chunk: Uint8Array): void {
    const { input } = this
    // What was left has no line feed: all whole lines were read.
    const last = chunk.lastIndexOf(LF)
    input.feed(chunk)
    this.lines = last < 0 ? input.pos : input.end - chunk.length + last + 1
  }

  end(): void {
    this.ended = true
    if (this.input.left === 0) return
    this.unterminated = true
    this.feed(NEWLINE)
  }

  cut(): void {
    // What is left of a line may have lost digits: it is not an event.
  }

  next(): EventBatch | null {
    if (this.failure !== null) throw this.failure
    const { input } = this
    while (input.pos < this.lines) {
      if (this.head !== null) {
        this.readHead(this.head)
      } else {
        const batch = this.read(this.header as TraceHeader)
        if (batch.count > 0 || batch.header !== this.announced) return this.give(batch)
      }
      if (this.failure !== null) throw this.failure
    }
    if (input.left > MAX_LINE) throw this.tooLong(input.pos)
    if (this.ended && this.head !== null) this.begin(this.head)
    if (this.header !== undefined && this.header !== this.announced) return this.give(new EventBatch(0, 0, this.header))
    if (this.unterminated) {
      this.unterminated = false
      const at = {
        format: this.name,
        offset: input.offset - 1,
        line: this.line - 1,
        ...(this.events > 0 && { event: this.events }),
      }
      this.warnings.push(`${describe(at)}: the last line does not end with a newline, so the trace may be cut`)
    }
    return null
  }

  private give(batch: EventBatch): EventBatch {
    this.announced = batch.header
    this.events += batch.count
    this.columns |= batch.columns
    return batch
  }

  /** Reads a line of the head, or the empty one behind it. */
  private readHead(head: Uint8Array): void {
    const { input } = this
    const { bytes, pos } = input
    const end = bytes.indexOf(LF, pos) + 1
    const isHead = bytes[pos] === HASH
    const isEmpty = end === pos + 1 || (end === pos + 2 && bytes[pos] === CR)
    if (isHead && head.length + end - pos > MAX_HEAD) {
      this.failure = limit(`more than ${MAX_HEAD} bytes of lines before the records`, this.place(pos))
    } else if (isHead && !isHeadLine(decodeText(bytes.subarray(pos, end)))) {
      const reason = 'expected a line "## Key: value"'
      const isCut = this.unterminated && end === input.end
      this.failure = isCut ? truncated(reason, this.place(end - 1)) : malformed(reason, this.place(pos))
    } else if (isHead || isEmpty) {
      const longer = new Uint8Array(head.length + end - pos)
      longer.set(head)
      longer.set(bytes.subarray(pos, end), head.length)
      input.pos = end
      this.line++
      if (isHead) this.head = longer
      else this.begin(longer)
    } else {
      this.begin(head)
    }
  }

  /** The head is whole: records follow. */
  private begin(head: Uint8Array): void {
    this.header = headerOf(this.name, head, this.timeUnit)
    this.head = null
  }

  private newBatch(header: TraceHeader): EventBatch {
    const { input } = this
    const perEvent = this.events === 0 ? USUAL_BYTES_PER_EVENT : input.offset / this.events
    // A little more than the mean, lest the last lines of a chunk need a batch of their own.
    const capacity = Math.ceil(((this.lines - input.pos) / perEvent) * 1.1)
    return new EventBatch(Math.min(BATCH_EVENTS, Math.max(MIN_CAPACITY, capacity)), this.columns, header)
  }

  /** Reads lines into a new batch until it is full, the lines are used up, one is at fault, or another head begins. */
  private read(header: TraceHeader): EventBatch {
    const { input, lines, programs, bySmallTag, readers } = this
    const { bytes } = input
    const batch = this.newBatch(header)
    const { capacity, mask, kind, strings } = batch
    const words: Uint32Array[] = FIELDS.map(() => NO_WORDS)
    hoist(batch, words)
    const scratch = new Uint32Array(2)
    let { columns } = batch
    let { line } = this
    let p = input.pos
    let i = 0
    let start = p
    let expected = ''

    for (; p < lines && i < capacity && strings.byteLength <= BATCH_STRING_BYTES; start = p) {
      if (this.loops !== undefined) {
        const cursor = { bytes, pos: p, end: lines, limit: capacity }
        batch.count = i
        this.loops.read(batch, cursor)
        if (batch.count > i) {
          line += batch.count - i
          i = batch.count
          p = cursor.pos
          columns = batch.columns
          hoist(batch, words)
          continue
        }
      }
      let c = bytes[p] as number
      while (c === SPACE || c === TAB) c = bytes[++p] as number
      let isEvent = false
      if (c === HASH && p === start) {
        this.head = NOTHING
        break
      }
      if (c !== LF && c !== CR) {
        const first = p
        let tag = c - ZERO
        p++
        if (tag >>> 0 > 9 || ((bytes[p] as number) - ZERO) >>> 0 <= 9) {
          p = decimal(bytes, first, scratch, 0)
          tag = p < 0 || scratch[HI] !== 0 ? -1 : (scratch[LO] as number)
        }
        const position =
          (tag < SMALL_TAGS ? (tag < 0 ? 0 : (bySmallTag[tag] as number)) : (this.byTag.get(tag) ?? 0)) - 1
        if (position < 0) {
          expected = p < 0 ? 'a tag' : 'a tag that the DTD has'
          p = p < 0 ? p : ~first
          break
        }
        const { simple, set, mapping } = programs[position] as Program
        if (simple === null) {
          const reader = readers[position] as RecordReader
          p = reader.read(bytes, p, batch, i)
          if (p < 0) {
            if (reader.excess !== '') this.failure = limit(reader.excess, this.place(start, line, this.events + i))
            expected = reader.expected
            break
          }
          if (columns !== batch.columns) {
            columns = batch.columns
            hoist(batch, words)
          }
        } else {
          const { given } = mapping
          const fields = set | given
          if ((fields & ~columns) !== 0) {
            batch.addColumns(fields)
            columns = batch.columns
            hoist(batch, words)
          }
          const at = 2 * i
          let n = 0
          for (; n < simple.length; n++) {
            const before = p
            p = gap(bytes, before)
            if (p > 0) p = unsigned(bytes, p, words[simple[n] as number] as Uint32Array, at)
            if (p < 0) break
          }
          if (p < 0) {
            expected = `'${FIELDS[simple[n] as number]?.name}', a number`
            break
          }
          kind[i] = mapping.kind
          mask[i] = fields
          if (given !== 0) {
            if ((given & HAS_OUTCOME) !== 0) batch.outcome[i] = mapping.outcome
            if ((given & HAS_API) !== 0) batch.api[i] = mapping.api
            if ((given & HAS_CODE) !== 0) batch.code[i] = tag
          }
        }
        isEvent = true
      }
      const end = bytes[p] === LF ? p : lineEnd(bytes, p)
      if (end < 0) {
        expected = 'the end of the line'
        p = end
        break
      }
      p = end + 1
      if (p - start > MAX_LINE) {
        this.failure = this.tooLong(start, line, this.events + i)
        break
      }
      line++
      if (isEvent) i++
    }

    batch.count = i
    this.line = line
    if (p < 0 && this.failure === null) this.failure = this.explain(start, ~p, expected, this.events + i)
    input.pos = start
    return batch
  }

  private explain(start: number, at: number, expected: string, events: number): TraceError {
    const { bytes } = this.input
    if (bytes.indexOf(LF, start) - start >= MAX_LINE) return this.tooLong(start, this.line, events)
    const place = { ...this.place(at, this.line, events), column: at - start + 1 }
    return this.unterminated && at === this.input.end - 1
      ? truncated(`the last line is incomplete: expected ${expected}`, place)
      : malformed(`expected ${expected}`, place)
  }

  private tooLong(start: number, line = this.line, events = this.events): TraceError {
    return limit(`a line of more than ${MAX_LINE} bytes`, this.place(start, line, events))
  }

  /** A place, at this position in the input's bytes. */
  private place(at: number, line = this.line, events = this.events) {
    return { format: this.name, offset: this.input.offset + at - this.input.pos, line, column: 1, event: events + 1 }
  }
}

/** Takes the words of all 64-bit columns that a batch has. */
function hoist(batch: EventBatch, words: Uint32Array[]): void {
  for (let f = 0; f < FIELDS.length; f++) {
    const column = batch[columnOf(f)]
    if (column instanceof U64Column) words[f] = column.words
  }
}
