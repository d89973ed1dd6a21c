import { Input } from '../../bytes/input.js'
import { HI, LO, WORD } from '../../bytes/u64.js'
import { BATCH_EVENTS, EventBatch } from '../../event/batch.js'
import { limit, malformed, truncated, type TraceError, type TracePosition } from '../../event/error.js'
import { Api, fieldSet, FieldBit, Kind } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import type { Decoder } from '../../event/stage.js'
import { decodeText, StringTable } from '../../event/strings.js'
import { FULL, Stacks } from '../heaptrack/stacks.js'
import { Tables, type Fault } from '../heaptrack/tables.js'
import { headerOf, MAX_STRING, NAME, NUMBERS, SAME_STACK, SIGNALLED, SIGNALS, Tag, VERSION } from './layout.js'
import { Modules, moduleText } from './modules.js'
import { add, addDifference, readNumbers, SHORT } from './numbers.js'
import { MAGIC } from './sniff.js'

const COLUMNS = fieldSet('api', 'thread', 'time', 'address', 'size', 'usable', 'stack')
const FREE_FIELDS = fieldSet('api', 'thread', 'time', 'address')
const ALLOC_FIELDS = FREE_FIELDS | fieldSet('size', 'usable')
const LOST_FIELDS = fieldSet('time', 'count')
const { stack: STACK, count: COUNT, alignment: ALIGNMENT, oldAddress: OLD, thread: THREAD, text: TEXT } = FieldBit

/** By tag, the kind and the function of an event. */
const KIND_OF = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, Kind.realloc, Kind.free, Kind.free, Kind.alloc)
const API_OF = Uint8Array.from(
  [0, 0, 0, 0, 0, 0, 0, 0, 'malloc', 'calloc', 'memalign', 'realloc', 'realloc', 'free', 'realloc', 'realloc'] as const,
  (name) => (name === 0 ? 0 : Api[name]),
)

/** Decodes the recordings of heapflow's own recorder. */
export class RecorderDecoder implements Decoder {
  /** Reports how the program ended, unless it exited. */
  readonly warnings: string[] = []
  private readonly input = new Input()
  private readonly numbers = new Uint32Array(16)
  private readonly time = new Uint32Array(2)
  private readonly address = new Uint32Array(2)
  private readonly frame = new Uint32Array(2)
  private readonly thread = new Uint32Array(2)
  private tables = new Tables()
  private stacks = new Stacks(this.tables, true)
  private modules = new Modules(this.tables)
  private node = 0
  private header: TraceHeader | undefined
  private hasEnded = false
  private starved = false
  private wasCut = false
  /** The number of events delivered. */
  private delivered = 0
  /** How many of them are modules, which the end mark does not count. */
  private comments = 0
  private fault: TraceError | undefined

  feed(chunk: Uint8Array): void {
    this.input.feed(chunk)
    this.starved = false
  }

  end(): void {
    this.input.ended = true
    this.starved = false
  }

  endTruncated(): void {
    this.wasCut = true
  }

  detach(): void {
    this.input.detach()
  }

  next(): EventBatch | null {
    const { input } = this
    while (this.fault === undefined && !this.starved && !this.wasCut) {
      if (input.offset === 0 && !this.begin()) continue
      if (this.hasEnded) {
        if (input.left > 0) this.fault = malformed('unexpected data after the end mark', this.here(0))
        else this.starved = true
        continue
      }
      if (input.left === 0) {
        this.starve(0)
        continue
      }
      const tag = input.next
      if (tag === Tag.process) {
        const batch = this.readProcess()
        if (batch !== undefined) return batch
      } else if (tag === Tag.end) {
        const batch = this.readEnd()
        if (batch !== undefined) return batch
      } else if (this.header === undefined) {
        this.fault = malformed('a record before that of the process', this.here(0))
      } else {
        const batch = this.readRecords(this.header)
        if (batch.count > 0) {
          this.delivered += batch.count
          return batch
        }
      }
    }
    if (this.fault !== undefined) throw this.fault
    return null
  }

  /** Reads the magic number and the version. @returns false if more input is needed, or they are wrong */
  private begin(): boolean {
    const { input } = this
    const { bytes, pos, left } = input
    const length = MAGIC.length + 1
    const wrong = MAGIC.findIndex((byte, i) => i < left && bytes[pos + i] !== byte)
    if (wrong >= 0) this.fault = malformed('not the beginning of a recording', this.here(0))
    else if (left < length) this.starve(0, left === 0 ? 'the input is empty' : 'the input ends within its beginning')
    else if (bytes[pos + length - 1] !== VERSION)
      this.fault = malformed(`version ${bytes[pos + length - 1]} of the format is not known`, this.here(0))
    else {
      input.pos += length
      return true
    }
    return false
  }

  /** Reads the record of a process, with which a trace begins. */
  private readProcess(): EventBatch | undefined {
    const { input, numbers } = this
    const { bytes, pos, end } = input
    const from = this.checked(readNumbers(bytes, pos + 1, end, numbers, 2), 0)
    if (from < 0) return undefined
    const length = this.lengthAt(1)
    if (length < 0) return undefined
    if (end - from < length) {
      this.starve(0)
      return undefined
    }
    const process = numbers[HI] === 0 ? (numbers[LO] as number) : undefined
    this.header = headerOf(process, decodeText(bytes.subarray(from, from + length)))
    input.pos = from + length
    this.tables = new Tables()
    this.stacks = new Stacks(this.tables, true)
    this.modules = new Modules(this.tables)
    this.node = 0
    for (const words of [this.time, this.address, this.frame, this.thread]) words.fill(0)
    return new EventBatch(0, 0, this.header)
  }

  /** Reads the end mark. @returns an empty batch if there was no process */
  private readEnd(): EventBatch | undefined {
    const { input, numbers } = this
    const next = this.checked(readNumbers(input.bytes, input.pos + 1, input.end, numbers, 3), 0)
    if (next < 0) return undefined
    const kind = numbers[LO] as number
    const value = numbers[2 + LO] as number
    if (kind > SIGNALLED || ((numbers[HI] as number) | (numbers[2 + HI] as number)) !== 0) {
      this.fault = malformed('the end mark does not say how the program ended', this.here(0))
      return undefined
    }
    const events = (numbers[4 + HI] as number) * WORD + (numbers[4 + LO] as number)
    const counted = this.delivered - this.comments
    if (events !== counted) {
      this.fault = malformed(`the end mark counts ${events} events, and not ${counted}`, this.here(0))
      return undefined
    }
    input.pos = next
    this.hasEnded = true
    if (kind === SIGNALLED)
      this.warnings.push(
        `${NAME}: the program was ended by ${SIGNALS[value] ? `SIG${SIGNALS[value]}` : `signal ${value}`}`,
      )
    if (this.header !== undefined) return undefined
    this.header = headerOf()
    return new EventBatch(0, 0, this.header)
  }

  /** Reads records into a new batch until it is full, or another process or the end mark begins. */
  private readRecords(header: TraceHeader): EventBatch {
    const { input, numbers, time, address, thread, stacks } = this
    const { bytes, end } = input
    const capacity = Math.min(BATCH_EVENTS, (input.left >> 2) + 1)
    const batch = new EventBatch(capacity, COLUMNS, header, new StringTable(stacks.tree))
    const { mask, kind, api, stack } = batch
    const threads = batch.thread.words
    const times = batch.time.words
    const addresses = batch.address.words
    const sizes = batch.size.words
    const usables = batch.usable.words
    stacks.begin(batch.strings)
    let i = 0
    while (i < capacity && input.pos < end) {
      const first = bytes[input.pos] as number
      const tag = first & ~SAME_STACK
      if (tag < Tag.malloc || tag > Tag.kept) {
        if (first === Tag.process || first === Tag.end) break
        if (first === Tag.lost) {
          const next = this.checked(readNumbers(bytes, input.pos + 1, end, numbers, 1), i)
          if (next < 0) break
          this.lost(batch, i++)
          input.pos = next
        } else if (first === Tag.module) {
          if (!this.readModule(batch, i)) break
          i++
        } else if (!this.define(first, i)) break
        continue
      }
      const isAlloc = tag < Tag.free
      if (!isAlloc && first !== tag) {
        this.fault = malformed(`a record of unknown type 0x${first.toString(16)}`, this.here(i))
        break
      }
      const isSame = first !== tag
      const count = (NUMBERS[tag] as number) - (isSame ? 1 : 0)
      const next = this.checked(readNumbers(bytes, input.pos + 1, end, numbers, count), i)
      if (next < 0) break
      const at = 2 * i
      let fields = FREE_FIELDS
      if (isAlloc) {
        fields = ALLOC_FIELDS
        const node = isSame ? this.node : this.nodeAt(4)
        if (node < 0 || node > this.tables.nodes) {
          this.fault = malformed('a stack that was not defined', this.here(i))
          break
        }
        if (node > 0) {
          const list = stacks.list(node)
          if (list === FULL && i > 0) break
          if (list < 0) {
            this.fault = limit('the texts of a stack are too long', this.here(i))
            break
          }
          stack[i] = list
          fields |= STACK
        }
        this.node = node
      }
      add(time, numbers, 0)
      addDifference(address, numbers, 1)
      if (isAlloc) {
        const size = sizes.subarray(at, at + 2)
        size[LO] = numbers[4 + LO] as number
        size[HI] = numbers[4 + HI] as number
        const usable = usables.subarray(at, at + 2)
        usable.set(size)
        add(usable, numbers, 3)
        if (count > 4 + (isSame ? 0 : 1)) fields |= this.extra(batch, at, tag, count - 1)
      }
      mask[i] = fields
      kind[i] = KIND_OF[tag] as number
      api[i] = API_OF[tag] as number
      threads[at] = thread[0] as number
      threads[at + 1] = thread[1] as number
      times[at] = time[0] as number
      times[at + 1] = time[1] as number
      addresses[at] = address[0] as number
      addresses[at + 1] = address[1] as number
      i++
      input.pos = next
    }
    batch.count = i
    return batch
  }

  /** Stores the further number of an allocation. @returns its field */
  private extra(batch: EventBatch, at: number, tag: number, number: number): number {
    const field = tag === Tag.calloc ? COUNT : tag === Tag.aligned ? ALIGNMENT : OLD
    batch.addColumns(field)
    const column = field === COUNT ? batch.elements : field === ALIGNMENT ? batch.alignment : batch.oldAddress
    const words = column.words.subarray(at, at + 2)
    if (field === OLD) {
      words.set(this.address)
      addDifference(words, this.numbers, number)
    } else words.set(this.numbers.subarray(2 * number, 2 * number + 2))
    return field
  }

  private lost(batch: EventBatch, i: number): void {
    const { thread, time, numbers } = this
    batch.addColumns(COUNT)
    batch.kind[i] = Kind.lost
    batch.mask[i] = LOST_FIELDS | (thread[0] === 0 && thread[1] === 0 ? 0 : THREAD)
    batch.thread.words.set(thread, 2 * i)
    batch.time.words.set(time, 2 * i)
    batch.elements.words.set(numbers.subarray(0, 2), 2 * i)
  }

  /** Reads a definition. @returns false if there is not all of it, or it is wrong */
  private define(tag: number, pending: number): boolean {
    const { input, numbers, tables } = this
    const { bytes, pos, end } = input
    const count = tag > Tag.module && tag <= Tag.thread ? (NUMBERS[tag] as number) : 0
    if (count === 0) {
      this.fault = malformed(`a record of unknown type 0x${tag.toString(16)}`, this.here(pending))
      return false
    }
    const next = this.checked(readNumbers(bytes, pos + 1, end, numbers, count), pending)
    if (next < 0) return false
    let fault: Fault | undefined
    if (tag === Tag.thread) this.thread.set(numbers.subarray(0, 2))
    else if (tag === Tag.frame) {
      const module = numbers[HI] === 0 ? (numbers[LO] as number) : -1
      addDifference(this.frame, numbers, 1)
      fault = this.modules.addFrame(module, this.frame)
    } else {
      const frame = numbers[HI] === 0 ? (numbers[LO] as number) : -1
      const distance = numbers[2 + HI] === 0 ? (numbers[2 + LO] as number) : 0
      const parent = tables.nodes + 1 - distance
      fault = frame < 0 || distance === 0 || parent < 0 ? 'undefined' : tables.addNode(frame, parent)
    }
    return this.defined(next, fault, pending)
  }

  /** Reads a module as event i, a comment. @returns false if there is not all of it, or it is wrong */
  private readModule(batch: EventBatch, i: number): boolean {
    const { input, numbers } = this
    const { bytes, pos, end } = input
    const id = this.checked(readNumbers(bytes, pos + 1, end, numbers, 2), i)
    if (id < 0) return false
    const idLength = this.lengthAt(1, i)
    if (idLength < 0) return false
    const base = numbers.slice(0, 2)
    const path = this.checked(readNumbers(bytes, id + idLength, end, numbers, 1), i)
    if (path < 0) return false
    const length = this.lengthAt(0, i)
    if (length < 0) return false
    if (end - path < length) {
      this.starve(i)
      return false
    }
    if (!this.defined(path + length, this.modules.add(base, bytes, path, path + length), i)) return false
    const text = moduleText(base, bytes.subarray(id, id + idLength), bytes.subarray(path, path + length))
    batch.addColumns(TEXT)
    batch.kind[i] = Kind.comment
    batch.mask[i] = TEXT
    batch.text[i] = batch.strings.internText(text)
    this.comments++
    return true
  }

  private defined(next: number, fault: Fault | undefined, pending: number): boolean {
    if (fault === undefined) this.input.pos = next
    else if (fault === 'full') this.fault = limit('too many modules, frames or stacks', this.here(pending))
    else this.fault = malformed('a record that refers to what was not defined', this.here(pending))
    return fault === undefined
  }

  /** The length of a string, of the number at `i`; -1 if it is too long. */
  private lengthAt(i: number, pending = 0): number {
    const length = this.numbers[2 * i + LO] as number
    if (this.numbers[2 * i + HI] === 0 && length <= MAX_STRING) return length
    this.fault = limit(`a string of more than ${MAX_STRING} bytes`, this.here(pending))
    return -1
  }

  /** The node of an allocation, by the difference at `i`; -1 if it is no number of a node. */
  private nodeAt(i: number): number {
    const { numbers } = this
    const lo = numbers[2 * i + LO] as number
    if (numbers[2 * i + HI] !== 0) return -1
    return this.node + ((lo >>> 1) ^ -(lo & 1))
  }

  /** A position after numbers, or a negative number if they are incomplete or wrong. */
  private checked(next: number, pending: number): number {
    if (next === SHORT) this.starve(pending)
    else if (next < 0) this.fault = malformed('a number of more than 64 bits', this.here(pending))
    return next
  }

  /** Nothing more can be read until more input arrives; at the end of the input, that is a fault. */
  private starve(pending: number, reason?: string): void {
    const { input } = this
    this.starved = true
    if (!input.ended) return
    const missing = input.left === 0 ? 'the end mark is missing' : 'the input ends within a record'
    this.fault = truncated(reason ?? missing, this.here(pending))
  }

  /** The place of the event after those delivered and `pending` more. */
  private here(pending: number): TracePosition {
    return { format: NAME, offset: this.input.offset, event: this.delivered + pending + 1 }
  }
}
