import { HI, LO } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { ATTACHED, recordingNote } from '../../event/recording-note.js'
import { processText, THREAD_NAME } from '../../event/recorded-names.js'
import { limit } from '../../event/error.js'
import { FieldBit, fieldSet, Kind } from '../../event/fields.js'
import { decodeText, type StringTable } from '../../event/strings.js'
import { Stacks } from '../heaptrack/stacks.js'
import { Tables, type Fault } from '../heaptrack/tables.js'
import { NAME, NUMBERS, OLD_VERSION, ORIGINS, RESIDENT, Tag } from './layout.js'
import { Modules } from './modules.js'
import { add, addDifference } from './numbers.js'
import { RecordReader } from './record-reader.js'

const { text: TEXT, process: PROCESS, thread: THREAD, time: TIME, count: COUNT } = FieldBit
const LOST_FIELDS = fieldSet('time', 'count')
const RESIDENT_FIELDS = fieldSet('time', 'code', 'present')
/** Recordings follow one another, and each may have such comments. */
const MAX_WARNINGS = 100
/** Most processes of one trace. */
const MAX_PROCESSES = 0xffff_ffff

/**
 * The definitions of records for later records: processes, modules, frames, stacks and threads; and the rare events.
 */
export abstract class Definitions extends RecordReader {
  protected tables = new Tables()
  protected stacks = new Stacks(this.tables, true)
  private isBrief = false
  protected modules = new Modules(this.tables)
  /** The process of the events that follow; the first one is 1. */
  protected process = 0
  private processes = 0
  protected readonly time = new Uint32Array(2)
  protected readonly thread = new Uint32Array(2)
  private readonly frame = new Uint32Array(2)
  /** By module, the text of the comment that it is unloaded, in a table of strings. */
  private readonly unloaded = new Map<number, number>()
  private unloadedIn: StringTable | undefined
  /** Reports if a recording does not cover a whole program, and how the program ended, unless it exited. */
  readonly warnings: string[] = []
  /** The number of the events that were comments, which the end mark does not count. */
  protected comments = 0

  /** Each frame of the tree of stacks shall come once. */
  giveInfos(): void {
    this.isBrief = true
  }

  /** Forgets all definitions, for another trace begins. */
  protected beginTrace(): void {
    this.tables = new Tables()
    this.stacks = new Stacks(this.tables, true, this.isBrief)
    this.modules = new Modules(this.tables)
    this.process = this.processes = 1
    for (const words of [this.time, this.thread, this.frame]) words.fill(0)
  }

  /**
   * Reads a record that is no event of a block.
   * @param i how many events the batch has; this may be the next
   * @returns how many events it is; -1 if it is not all there, or wrong
   */
  protected define(tag: number, batch: EventBatch, i: number): number {
    if (tag === Tag.module) return this.readModule(batch, i)
    if (tag === Tag.child) return this.readChild(batch, i)
    if (tag === Tag.name) return this.readName(batch, i)
    const count = NUMBERS[tag] ?? 0
    const isEnd = tag === Tag.processEnd || tag === Tag.threadEnd
    const isNew = isEnd || tag === Tag.attached
    if (count === 0 || (isNew && this.version === OLD_VERSION) || tag === Tag.process || tag === Tag.end) {
      this.malformed(`a record of unknown type 0x${tag.toString(16)}`, i)
      return -1
    }
    const next = this.read(this.input.pos + 1, count, i)
    if (next < 0) return -1
    if (tag === Tag.unloaded) return this.unload(batch, i, next)
    if (tag === Tag.lost) return this.lost(batch, i, next)
    if (isEnd) return this.ended(tag, batch, i, next)
    if (tag === Tag.attached) return this.attached(batch, i, next)
    return this.defined(next, this.defineNumbers(tag), i) ? 0 : -1
  }

  private defineNumbers(tag: number): Fault | undefined {
    const { numbers, tables } = this
    if (tag === Tag.thread) {
      this.thread.set(numbers.subarray(0, 2))
      return undefined
    }
    if (tag === Tag.switch) {
      const process = this.small(0)
      if (process < 1 || process > this.processes) return 'undefined'
      this.process = process
      return undefined
    }
    if (tag === Tag.frame) {
      addDifference(this.frame, numbers, 1)
      return this.modules.addFrame(this.small(0), this.frame)
    }
    const frame = this.small(0)
    const distance = Math.max(this.small(1), 0)
    const parent = tables.nodes + 1 - distance
    return frame < 0 || distance === 0 || parent < 0 ? 'undefined' : tables.addNode(frame, parent)
  }

  /** Stores the process of event i, if it is not the first one, which has none. @returns its field */
  protected ofProcess(batch: EventBatch, i: number): number {
    if (this.process < 2) return 0
    batch.addColumns(PROCESS)
    batch.process.words[2 * i + LO] = this.process
    batch.process.words[2 * i + HI] = 0
    return PROCESS
  }

  /** Stores how much of the process is resident as event i. */
  protected resident(batch: EventBatch, i: number): void {
    batch.addColumns(RESIDENT_FIELDS)
    batch.kind[i] = Kind.other
    batch.mask[i] = RESIDENT_FIELDS | this.ofProcess(batch, i)
    batch.code[i] = RESIDENT
    batch.time.words.set(this.time, 2 * i)
    batch.present.words.set(this.numbers.subarray(2, 4), 2 * i)
  }

  private lost(batch: EventBatch, i: number, next: number): number {
    const { thread } = this
    batch.addColumns(COUNT)
    batch.kind[i] = Kind.lost
    batch.mask[i] = LOST_FIELDS | (thread[0] === 0 && thread[1] === 0 ? 0 : THREAD) | this.ofProcess(batch, i)
    batch.thread.words.set(thread, 2 * i)
    batch.time.words.set(this.time, 2 * i)
    batch.elements.words.set(this.numbers.subarray(0, 2), 2 * i)
    this.input.pos = next
    return 1
  }

  /** The current thread or process has ended: stores event i. */
  private ended(tag: number, batch: EventBatch, i: number, next: number): number {
    const isThread = tag === Tag.threadEnd
    add(this.time, this.numbers, 0)
    batch.kind[i] = isThread ? Kind['thread-destroy'] : Kind['process-end']
    batch.mask[i] = (isThread ? THREAD | TIME : TIME) | this.ofProcess(batch, i)
    if (isThread) batch.thread.words.set(this.thread, 2 * i)
    batch.time.words.set(this.time, 2 * i)
    this.input.pos = next
    return 1
  }

  /** The current process ran already: stores event i. */
  private attached(batch: EventBatch, i: number, next: number): number {
    return this.remark(batch, i, `${ATTACHED}${(Math.max(this.small(0), 0) / 1000).toFixed(3)} s`, next)
  }

  /** Stores a comment of which readers of the recording must know as event i. */
  protected remark(batch: EventBatch, i: number, text: string, next: number): number {
    if (this.warnings.length < MAX_WARNINGS) this.warnings.push(`${NAME}: ${recordingNote(text)}`)
    return this.comment(batch, i, text, next)
  }

  private readChild(batch: EventBatch, i: number): number {
    const { input } = this
    const from = this.read(input.pos + 1, 4, i)
    const end = from < 0 ? from : this.stringEnd(3, from, i)
    if (end < 0) return -1
    const [pid, parent, origin] = [this.small(0), this.small(1), ORIGINS[this.small(2)]]
    if (pid < 0 || parent < 0 || parent > this.processes || origin === undefined) {
      this.malformed('a process that comes from none', i)
      return -1
    }
    if (this.processes >= MAX_PROCESSES) {
      this.fault = limit('too many processes', this.here(i))
      return -1
    }
    this.process = ++this.processes
    const from0 = parent === 0 ? 'an unknown one' : String(parent)
    const command = decodeText(input.bytes.subarray(from, end))
    return this.comment(batch, i, processText(this.process, pid, `${origin} ${from0}`, command), end)
  }

  private readName(batch: EventBatch, i: number): number {
    const { input } = this
    const from = this.read(input.pos + 1, 1, i)
    const end = from < 0 ? from : this.stringEnd(0, from, i)
    if (end < 0) return -1
    this.comment(batch, i, `${THREAD_NAME}${decodeText(input.bytes.subarray(from, end))}`, end)
    batch.mask[i] = batch.mask[i] | THREAD
    batch.thread.words.set(this.thread, 2 * i)
    return 1
  }

  private readModule(batch: EventBatch, i: number): number {
    const { input, numbers } = this
    const { bytes } = input
    const id = this.read(input.pos + 1, 2, i)
    const idEnd = id < 0 ? id : this.stringEnd(1, id, i)
    if (idEnd < 0) return -1
    const base = numbers.slice(0, 2)
    const path = this.read(idEnd, 1, i)
    const end = path < 0 ? path : this.stringEnd(0, path, i)
    if (end < 0) return -1
    const text = `${Modules.text(base, bytes.subarray(id, idEnd))} ${decodeText(bytes.subarray(path, end))}`
    if (!this.defined(input.pos, this.modules.add(base, bytes, path, end), i)) return -1
    return this.comment(batch, i, `module ${text}`, end)
  }

  private unload(batch: EventBatch, i: number, next: number): number {
    const module = this.small(0)
    const { strings } = batch
    if (strings !== this.unloadedIn) this.unloaded.clear()
    this.unloadedIn = strings
    // Records of two bytes could stand for long paths.
    let text = this.unloaded.get(module)
    if (text === undefined) {
      const path = this.modules.pathOf(module)
      if (path === undefined) {
        this.malformed('a record that refers to what was not defined', i)
        return -1
      }
      this.unloaded.set(module, (text = strings.internText(`unloaded ${path}`)))
    }
    return this.comment(batch, i, text, next)
  }

  /** Stores a comment as event i, and goes on at `next`. @param text itself, or its id in the batch */
  private comment(batch: EventBatch, i: number, text: string | number, next: number): number {
    batch.addColumns(TEXT)
    batch.kind[i] = Kind.comment
    batch.mask[i] = TEXT | this.ofProcess(batch, i)
    batch.text[i] = typeof text === 'string' ? batch.strings.internText(text) : text
    this.comments++
    this.input.pos = next
    return 1
  }

  private defined(next: number, fault: Fault | undefined, pending: number): boolean {
    if (fault === undefined) this.input.pos = next
    else if (fault === 'full') this.fault = limit('too many modules, frames or stacks', this.here(pending))
    else this.malformed('a record that refers to what was not defined', pending)
    return fault === undefined
  }
}
