import { COLON, CR, LF, MINUS, SPACE, TAB } from '../../../lib/text/ascii.js'
import { Input } from '../../../lib/bytes/input.js'
import { NO_LINE_FEED } from '../../../lib/text/last-line.js'
import { decimal, negative } from '../../../lib/text/numbers.js'
import { HI, LO, WORD } from '../../../lib/bytes/u64.js'
import { BATCH_EVENTS, EventBatch } from '../../../lib/event/batch.js'
import { limit, malformed, truncated, type TraceError } from '../../../lib/event/error.js'
import { Api, FieldBit, Kind, fieldSet } from '../../../lib/event/fields.js'
import type { Decoder } from '../../../lib/event/stage.js'
import { MAX_LINE, NAME, REPLAY_HEADER } from '../../../lib/formats/replay/layout.js'
import { decimalField, pointerField } from './fields.js'
import { endOfLine, isWord, longestMatch, Word } from './words.js'

const ALLOC = Kind.alloc
const REALLOC = Kind.realloc
const FREE = Kind.free
const THREAD_DESTROY = Kind['thread-destroy']
const MALLOC_API = Api.malloc
const CALLOC_API = Api.calloc
const MEMALIGN_API = Api.memalign
const REALLOC_API = Api.realloc
const FREE_API = Api.free

const MALLOC_FIELDS = fieldSet('api', 'thread', 'address', 'size')
const CALLOC_FIELDS = MALLOC_FIELDS | FieldBit.count
const MEMALIGN_FIELDS = MALLOC_FIELDS | FieldBit.alignment
const REALLOC_FIELDS = MALLOC_FIELDS | FieldBit.oldAddress
const FREE_FIELDS = fieldSet('api', 'thread', 'address')
const THREAD_FIELDS = FieldBit.thread
const HAS_ADDRESS = FieldBit.address
const HAS_COUNT = FieldBit.count
const HAS_ELEMENT_SIZE = FieldBit.elementSize
const HAS_ALIGNMENT = FieldBit.alignment
const HAS_TIME = FieldBit.time
const HAS_END_TIME = FieldBit.endTime
const HAS_PRESENT = FieldBit.present

/** Malloc, realloc and free make up nearly all of a dump; the columns of the others are added when they first occur. */
const FIRST_COLUMNS = REALLOC_FIELDS

const WORD_CALLOC = Word.calloc
const WORD_MEMALIGN = Word.memalign
const WORD_REALLOC = Word.realloc
const WORD_THREAD_DONE = Word.thread_done

const MIN_CAPACITY = 16
const USUAL_BYTES_PER_EVENT = 24

/** Where a line breaks the grammar. */
interface Fault {
  /** The line's first byte and the one that does not fit, as positions in the input's bytes. */
  start: number
  at: number
  /** What should have stood there. */
  expected: string
}

/**
 * Decodes memory_replay dumps. It only looks at lines whose line feed is there, so that no reader needs to look for the
 * end of the input: the line feed stops them all.
 */
export class ReplayDecoder implements Decoder {
  readonly warnings: string[] = []
  private readonly input = new Input()
  /** One past the last line feed in the input. */
  private lines = 0
  private line = 1
  private events = 0
  private columns = FIRST_COLUMNS
  private began = false
  private ended = false
  /** The last line has no line feed, and is not read. */
  private isCut = false
  private failure: TraceError | null = null

  feed(chunk: Uint8Array): void {
    this.input.feed(chunk)
    this.lines = this.input.bytes.lastIndexOf(LF, this.input.end - 1) + 1
  }

  end(): void {
    this.ended = true
    this.isCut = this.input.left > 0
  }

  endTruncated(): void {
    // What is left of a line may have lost digits: it is not an event.
  }

  next(): EventBatch | null {
    if (this.failure !== null) throw this.failure
    const { input } = this
    if (input.pos < this.lines) {
      const batch = this.read()
      if (batch.count > 0) return this.give(batch)
      if (this.failure !== null) throw this.failure
    }
    if (input.left > MAX_LINE) throw this.tooLong(input.pos)
    if (!this.ended) return null
    if (this.isCut) {
      const place = { format: NAME, offset: input.offset, line: this.line, column: 1, event: this.events + 1 }
      throw truncated(NO_LINE_FEED, place)
    }
    return this.began ? null : this.give(new EventBatch(0, 0, REPLAY_HEADER))
  }

  private give(batch: EventBatch): EventBatch {
    this.began = true
    this.events += batch.count
    this.columns |= batch.columns
    return batch
  }

  private newBatch(): EventBatch {
    const { input } = this
    const perEvent = this.events === 0 ? USUAL_BYTES_PER_EVENT : input.offset / this.events
    // A little more than the mean, lest the last lines of a chunk need a batch of their own.
    const capacity = Math.ceil(((this.lines - input.pos) / perEvent) * 1.1)
    return new EventBatch(Math.min(BATCH_EVENTS, Math.max(MIN_CAPACITY, capacity)), this.columns, REPLAY_HEADER)
  }

  /** Reads lines into a new batch until it is full, the lines are used up, or one is at fault. */
  private read(): EventBatch {
    const { input, lines } = this
    const { bytes } = input
    const batch = this.newBatch()
    const { capacity, mask, kind, api } = batch
    const thread = batch.thread.words
    const address = batch.address.words
    const oldAddress = batch.oldAddress.words
    const size = batch.size.words
    let count = batch.elements.words
    let alignment = batch.alignment.words
    let time = batch.time.words
    let endTime = batch.endTime.words
    let present = batch.present.words
    let { line } = this
    let p = input.pos
    let i = 0
    let start = p
    let expected = ''

    for (; p < lines && i < capacity; start = p) {
      const at = 2 * i
      let fields = 0
      let c = bytes[p]
      while (c === SPACE || c === TAB) c = bytes[++p]

      if (c === LF || c === CR) {
        if (c === CR) p++
        if (bytes[p] !== LF) {
          expected = 'a line feed'
          p = ~p
          break
        }
      } else {
        if (c === MINUS) {
          p = negative(bytes, p, thread, at)
        } else {
          const first = p
          p = decimal(bytes, p, thread, at)
          if (p > 0 && thread[at + HI] >>> 31 === 1) p = ~first
        }
        if (p < 0) {
          expected = 'a thread id'
          break
        }
        if (bytes[p] !== COLON) {
          expected = 'a colon'
          p = ~p
          break
        }
        c = bytes[++p]
        while (c === SPACE || c === TAB) c = bytes[++p]

        // A byte that is not there ends each comparison, and the line feed is in none of these words. The two that make
        // up nearly all of a dump are spelled out.
        if (
          c === 0x6d &&
          bytes[p + 1] === 0x61 &&
          bytes[p + 2] === 0x6c &&
          bytes[p + 3] === 0x6c &&
          bytes[p + 4] === 0x6f &&
          bytes[p + 5] === 0x63
        ) {
          kind[i] = ALLOC
          api[i] = MALLOC_API
          fields = MALLOC_FIELDS
          p = pointerField(bytes, p + 6, address, at)
          if (p > 0) p = decimalField(bytes, p, size, at)
          if (p < 0) {
            expected = 'a pointer and a size'
            break
          }
        } else if (c === 0x66 && bytes[p + 1] === 0x72 && bytes[p + 2] === 0x65 && bytes[p + 3] === 0x65) {
          kind[i] = FREE
          api[i] = FREE_API
          fields = FREE_FIELDS
          p = pointerField(bytes, p + 4, address, at)
          if (p < 0) {
            expected = 'a pointer'
            break
          }
        } else if (c === 0x72 && isWord(bytes, p, WORD_REALLOC)) {
          kind[i] = REALLOC
          api[i] = REALLOC_API
          fields = REALLOC_FIELDS
          p = pointerField(bytes, p + 7, address, at)
          if (p > 0) p = pointerField(bytes, p, oldAddress, at)
          if (p > 0) p = decimalField(bytes, p, size, at)
          if (p < 0) {
            expected = 'two pointers and a size'
            break
          }
        } else if (c === 0x63 && isWord(bytes, p, WORD_CALLOC)) {
          kind[i] = ALLOC
          api[i] = CALLOC_API
          fields = CALLOC_FIELDS
          if (count.length === 0) {
            batch.addColumns(HAS_COUNT)
            count = batch.elements.words
          }
          p = pointerField(bytes, p + 6, address, at)
          if (p > 0) p = decimalField(bytes, p, count, at)
          if (p > 0) p = decimalField(bytes, p, size, at)
          if (p < 0) {
            expected = 'a pointer and two sizes'
            break
          }
          fields |= multiply(batch, i)
        } else if (c === 0x6d && isWord(bytes, p, WORD_MEMALIGN)) {
          kind[i] = ALLOC
          api[i] = MEMALIGN_API
          fields = MEMALIGN_FIELDS
          if (alignment.length === 0) {
            batch.addColumns(HAS_ALIGNMENT)
            alignment = batch.alignment.words
          }
          p = pointerField(bytes, p + 8, address, at)
          if (p > 0) p = decimalField(bytes, p, alignment, at)
          if (p > 0) p = decimalField(bytes, p, size, at)
          if (p < 0) {
            expected = 'a pointer, an alignment and a size'
            break
          }
        } else if (c === 0x74 && isWord(bytes, p, WORD_THREAD_DONE)) {
          kind[i] = THREAD_DESTROY
          fields = THREAD_FIELDS
          p = pointerField(bytes, p + 11, address, at)
          if (p < 0) {
            expected = 'a pointer'
            break
          }
          // The null pointer stands for none, and is written for none.
          if (address[at] !== 0 || address[at + 1] !== 0) fields |= HAS_ADDRESS
        } else {
          expected = 'malloc, calloc, memalign, realloc, free or thread_done'
          p = ~longestMatch(bytes, p)
          break
        }

        if (bytes[p] !== LF) {
          let next = endOfLine(bytes, p)
          if (next < 0) {
            if (time.length === 0) {
              batch.addColumns(HAS_TIME | HAS_END_TIME)
              time = batch.time.words
              endTime = batch.endTime.words
            }
            if (kind[i] === THREAD_DESTROY) {
              p = decimalField(bytes, p, endTime, at)
              fields |= HAS_END_TIME
            } else {
              p = decimalField(bytes, p, time, at)
              if (p > 0) p = decimalField(bytes, p, endTime, at)
              fields |= HAS_TIME | HAS_END_TIME
            }
            if (p < 0) {
              expected =
                kind[i] === THREAD_DESTROY ? 'a time or the end of the line' : 'two times or the end of the line'
              break
            }
            next = endOfLine(bytes, p)
            if (next < 0 && (kind[i] === FREE || kind[i] === REALLOC)) {
              if (present.length === 0) {
                batch.addColumns(HAS_PRESENT)
                present = batch.present.words
              }
              p = decimalField(bytes, p, present, at)
              if (p < 0) {
                expected = 'the resident bytes or the end of the line'
                break
              }
              fields |= HAS_PRESENT
              next = endOfLine(bytes, p)
            }
            if (next < 0) {
              expected = 'the end of the line'
              p = next
              break
            }
          }
          p = next
        }
      }

      // Here p is at the line feed.
      p++
      if (p - start > MAX_LINE) {
        this.failure = this.tooLong(start, line, this.events + i)
        break
      }
      line++
      if (fields !== 0) {
        mask[i] = fields
        i++
      }
    }

    batch.count = i
    this.line = line
    input.pos = start
    if (p < 0) this.failure = this.explain({ start, at: ~p, expected }, this.events + i)
    return batch
  }

  private explain(fault: Fault, events: number): TraceError {
    const { start, at, expected } = fault
    const { input } = this
    const end = input.bytes.indexOf(LF, start)
    if (end - start >= MAX_LINE) return this.tooLong(start, this.line, events)
    const place = {
      format: NAME,
      offset: input.offset + at - start,
      line: this.line,
      column: at - start + 1,
      event: events + 1,
    }
    return malformed(`expected ${expected}`, place)
  }

  private tooLong(start: number, line = this.line, events = this.events): TraceError {
    const offset = this.input.offset + start - this.input.pos
    return limit(`a line of more than ${MAX_LINE} bytes`, { format: NAME, offset, line, column: 1, event: events + 1 })
  }
}

/**
 * Makes `size` of calloc's event i the product of what was read into `count` and `size`.
 * @returns the set with `elementSize` if the product alone does not tell it, else the empty set
 */
function multiply(batch: EventBatch, i: number): number {
  const { words } = batch.size
  const at = 2 * i
  const n = batch.elements.words[at + HI] * WORD + batch.elements.words[at + LO]
  const each = words[at + HI] * WORD + words[at + LO]
  const product = n * each
  if (n !== 0 && product <= Number.MAX_SAFE_INTEGER) {
    words[at + LO] = product
    words[at + HI] = product / WORD
    return 0
  }
  // Such calls fail or ask for nothing, so few programs make them and exact arithmetic may take its time.
  const count = batch.elements.values[i]
  const elementSize = batch.size.values[i]
  const exact = count * elementSize
  batch.size.values[i] = exact
  if (count !== 0n && BigInt.asUintN(64, exact) === exact) return 0
  batch.addColumns(HAS_ELEMENT_SIZE)
  batch.elementSize.values[i] = elementSize
  return HAS_ELEMENT_SIZE
}
