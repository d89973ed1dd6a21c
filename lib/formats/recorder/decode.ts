import { doubleAt, HI, LO } from '../../bytes/u64.js'
import { BATCH_EVENTS, BATCH_STRING_BYTES, EventBatch } from '../../event/batch.js'
import { EARLY_END } from '../../event/early-end.js'
import { limit } from '../../event/error.js'
import { Api, fieldSet, FieldBit, Kind } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import { plural } from '../../event/message-text.js'
import { ENDED_BY } from '../../event/recording-note.js'
import type { Decoder } from '../../event/stage.js'
import { decodeText, StringTable } from '../../event/strings.js'
import { FULL } from '../heaptrack/stacks.js'
import { Definitions } from './definitions.js'
import { EXITED, headerOf, NUMBERS, RUNS_ON, SAME_STACK, SIGNALLED, SIGNALS, Tag } from './layout.js'
import { add, addDifference } from './numbers.js'

const COLUMNS = fieldSet('api', 'thread', 'time', 'address', 'size', 'usable', 'stack')
const FREE_FIELDS = fieldSet('api', 'thread', 'time', 'address')
const ALLOC_FIELDS = FREE_FIELDS | fieldSet('size', 'usable')
const EXISTING_FIELDS = fieldSet('thread', 'time', 'address', 'size')
const { stack: STACK, count: COUNT, alignment: ALIGNMENT, oldAddress: OLD } = FieldBit

const { free, existing, alloc, realloc, other } = Kind
/** The kinds of records: not an event of a block, an event of a block, or an allocation. */
const [RARE, PLAIN, BLOCK] = [0, 1, 2]
/** By tag: what its record is, and the kind and the function of its event. */
const SHAPE_OF = new Uint8Array(Tag.resident + 1)
const KIND_OF = new Uint8Array(Tag.resident + 1)
const API_OF = new Uint8Array(Tag.resident + 1)
for (const [tag, shape, kind, api] of [
  [Tag.malloc, BLOCK, alloc, Api.malloc],
  [Tag.calloc, BLOCK, alloc, Api.calloc],
  [Tag.aligned, BLOCK, alloc, Api.memalign],
  [Tag.newRealloc, BLOCK, alloc, Api.realloc],
  [Tag.realloc, BLOCK, realloc, Api.realloc],
  [Tag.free, PLAIN, free, Api.free],
  [Tag.released, PLAIN, free, Api.realloc],
  [Tag.kept, PLAIN, alloc, Api.realloc],
  [Tag.existing, PLAIN, existing, 0],
  [Tag.freeStack, PLAIN, free, Api.free],
  [Tag.resident, PLAIN, other, 0],
] as const) {
  SHAPE_OF[tag] = shape
  KIND_OF[tag] = kind
  API_OF[tag] = api
}

/** The event that says that the program ran on when the recording ended. Other formats keep it. */
function earlyEndOf(header: TraceHeader): EventBatch {
  const batch = new EventBatch(1, FieldBit.code, header)
  batch.kind[0] = other
  batch.mask[0] = FieldBit.code
  batch.code[0] = EARLY_END
  batch.count = 1
  return batch
}

function nameOf(signal: number): string {
  const name = SIGNALS[signal] as string | undefined
  return name === undefined ? `signal ${signal}` : `SIG${name}`
}

/** Decodes the recordings of heapflow's own recorder. */
export class RecorderDecoder extends Definitions implements Decoder {
  private readonly address = new Uint32Array(2)
  private node = 0
  private header: TraceHeader | undefined
  private hasEnded = false

  next(): EventBatch | null {
    const { input } = this
    while (this.fault === undefined && !this.starved && !this.wasCut) {
      if (input.offset === 0 && !this.begin()) continue
      if (this.hasEnded) {
        if (input.left > 0) this.malformed('unexpected data after the end mark', 0)
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
        if (batch === undefined) continue
        this.delivered += batch.count
        return batch
      } else if (this.header === undefined) {
        this.malformed('a record before that of the process', 0)
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

  /** Reads the record of a process, with which a trace begins. */
  private readProcess(): EventBatch | undefined {
    const { input } = this
    const from = this.read(input.pos + 1, 2, 0)
    const end = from < 0 ? from : this.stringEnd(1, from, 0)
    if (end < 0) return undefined
    const process = this.small(0)
    this.header = headerOf(this.version, process < 0 ? undefined : process, decodeText(input.bytes.subarray(from, end)))
    input.pos = end
    this.beginTrace()
    this.node = 0
    this.address.fill(0)
    return new EventBatch(0, 0, this.header)
  }

  /** Reads the end mark. @returns an empty batch if there was no process */
  private readEnd(): EventBatch | undefined {
    const { input, numbers } = this
    const next = this.read(input.pos + 1, 3, 0)
    if (next < 0) return undefined
    const kind = this.small(0)
    const value = this.small(1)
    if (kind < 0 || kind > RUNS_ON || value < 0) {
      this.malformed('the end mark does not say how the program ended', 0)
      return undefined
    }
    const events = doubleAt(numbers, 2)
    const counted = this.delivered - this.comments
    if (events !== counted) {
      this.malformed(`the end mark counts ${plural(events, 'event')}, and not ${counted}`, 0)
      return undefined
    }
    input.pos = next
    this.hasEnded = true
    if (this.header !== undefined && kind === EXITED) return undefined
    this.header ??= headerOf(this.version)
    if (kind === RUNS_ON) return earlyEndOf(this.header)
    const batch = new EventBatch(kind === SIGNALLED ? 1 : 0, 0, this.header)
    if (kind === SIGNALLED) {
      this.process = 0
      batch.count = this.remark(batch, 0, `${ENDED_BY}${nameOf(value)}`, next)
    }
    return batch
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
      const first = bytes[input.pos]
      const tag = first & ~SAME_STACK
      const shape = (SHAPE_OF[tag] as number | undefined) ?? RARE
      const isBlock = shape === BLOCK
      const hasStack = isBlock || tag === Tag.freeStack
      const isSame = first !== tag
      if (shape === RARE || (isSame && !hasStack)) {
        if (first === Tag.process || first === Tag.end) break
        const events = this.define(first, batch, i)
        if (events < 0) break
        i += events
        if (batch.strings.byteLength > BATCH_STRING_BYTES) break
        continue
      }
      const count = NUMBERS[tag] - (isSame ? 1 : 0)
      const next = this.read(input.pos + 1, count, i)
      if (next < 0) break
      const at = 2 * i
      let fields = isBlock ? ALLOC_FIELDS : FREE_FIELDS
      if (hasStack) {
        const node = isSame ? this.node : this.nodeAt(isBlock ? 4 : 2)
        if (node < 0 || node > this.tables.nodes) {
          this.malformed('a stack that was not defined', i)
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
      input.pos = next
      if (tag === Tag.resident) {
        this.resident(batch, i++)
        continue
      }
      addDifference(address, numbers, 1)
      if (isBlock || tag === Tag.existing) {
        sizes[at + LO] = numbers[4 + LO]
        sizes[at + HI] = numbers[4 + HI]
        if (isBlock) {
          usables[at + LO] = numbers[4 + LO]
          usables[at + HI] = numbers[4 + HI]
          add(usables, numbers, 3, at)
          if (count > 4 + (isSame ? 0 : 1)) fields |= this.extra(batch, at, tag, count - 1)
        } else fields = EXISTING_FIELDS
      }
      if (this.process > 1) fields |= this.ofProcess(batch, i)
      mask[i] = fields
      kind[i] = KIND_OF[tag]
      api[i] = API_OF[tag]
      threads[at] = thread[0]
      threads[at + 1] = thread[1]
      times[at] = time[0]
      times[at + 1] = time[1]
      addresses[at] = address[0]
      addresses[at + 1] = address[1]
      i++
    }
    batch.count = i
    return batch
  }

  /** Stores the further number of an allocation. @returns its field */
  private extra(batch: EventBatch, at: number, tag: number, number: number): number {
    const field = tag === Tag.calloc ? COUNT : tag === Tag.aligned ? ALIGNMENT : OLD
    batch.addColumns(field)
    const column = field === COUNT ? batch.elements : field === ALIGNMENT ? batch.alignment : batch.oldAddress
    const { words } = column
    const from = field === OLD ? this.address : this.numbers
    const pair = field === OLD ? 0 : 2 * number
    words[at + LO] = from[pair + LO]
    words[at + HI] = from[pair + HI]
    if (field === OLD) addDifference(words, this.numbers, number, at)
    return field
  }

  /** The node of an event, by the difference at `i`; -1 if it is no number of a node. */
  private nodeAt(i: number): number {
    const { numbers } = this
    const lo = numbers[2 * i + LO]
    if (numbers[2 * i + HI] !== 0) return -1
    return this.node + ((lo >>> 1) ^ -(lo & 1))
  }
}
