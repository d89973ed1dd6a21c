import { widened } from '../../bytes/widened.js'
import { HI, LO, writeHex } from '../../bytes/u64.js'
import { SIZED_STRINGS } from './layout.js'
import { grown, type Tables } from './tables.js'

/** The kinds of definitions. */
export const Definition = { string: 0, entry: 1, node: 2, info: 3 } as const

/**
 * Definitions that were read since the last event. heaptrack writes each just before the event that uses it first, so
 * the encoder knows the place of such definitions, and they are dropped. All others, such as names of modules that are
 * in no stack, are `due`: they become comments, which the encoder writes unchanged.
 */
export class Pending {
  private kinds = new Uint8Array(1024)
  private numbers = new Uint32Array(1024)
  /** The number of definitions. */
  size = 0
  /**
   * Indices: of the first definition that is not a comment yet, of the first that is not due, and one past the last.
   */
  private head = 0
  private dueEnd = 0
  private tail = 0
  /** The position of the line that `text` wrote. */
  private line = new Uint8Array(256)

  constructor(
    private readonly tables: Tables,
    private readonly isRaw: boolean,
    private readonly version: number,
  ) {}

  /** Whether some definitions must become comments. */
  get isDue(): boolean {
    return this.head < this.dueEnd
  }

  /** Adds the last string of the table. */
  string(): void {
    this.push(Definition.string, this.tables.strings.size)
  }

  /** Adds the last entry of the table, with the strings that no earlier entry uses, in their order. */
  entry(): void {
    const { tables, kinds } = this
    let strings = 0
    while (this.tail - strings > this.dueEnd && kinds[this.tail - strings - 1] === Definition.string) strings++
    const own = this.ownStrings(strings)
    if (own < strings) this.flushTo(this.tail - own)
    this.push(Definition.entry, tables.entries)
  }

  /** Adds the last node of the table. */
  node(): void {
    const { tables } = this
    const { nodes } = tables
    const entry = tables.nodeEntry[nodes]
    const parent = tables.nodeParent[nodes]
    let group = this.tail
    if (!this.isRaw && group > this.dueEnd) {
      const kind = this.kinds[group - 1]
      if (kind === Definition.entry && this.numbers[group - 1] === entry) {
        group--
        while (group > this.dueEnd && this.kinds[group - 1] === Definition.string) group--
      } else if (kind !== Definition.node) {
        this.flushTo(group)
      }
    }
    // The definition before it must be its node.
    const isOf = this.kinds[group - 1] === Definition.node && this.numbers[group - 1] === parent
    if (group > this.dueEnd && !isOf) this.flushTo(group)
    this.push(Definition.node, nodes)
  }

  /** Adds the last info of the table. */
  info(): void {
    const { infos, infoNode } = this.tables
    if (!this.isLast(Definition.node, infoNode[infos - 1])) this.flushTo(this.tail)
    this.push(Definition.info, infos - 1)
  }

  /** An event with this node or info follows, or with neither if it is -1. Some definitions may be due then. */
  event(kind: number, number: number): void {
    if (!this.isLast(kind, number)) this.dueEnd = this.tail
    else this.tail = this.dueEnd
    this.count()
  }

  /** Removes the first definition that is due. @returns its line, which is valid until the next call */
  next(): Uint8Array {
    const kind = this.kinds[this.head]
    const number = this.numbers[this.head++]
    this.count()
    return this.lineOf(kind, number)
  }

  clear(): void {
    this.size = this.head = this.dueEnd = this.tail = 0
  }

  /** The line of the last entry of the table, valid until the next call. */
  entryLine(): Uint8Array {
    return this.lineOf(Definition.entry, this.tables.entries)
  }

  private lineOf(kind: number, number: number): Uint8Array {
    // Writing it can replace the buffer.
    const length = this.text(kind, number)
    return this.line.subarray(0, length)
  }

  private push(kind: number, number: number): void {
    if (this.tail === this.numbers.length) {
      this.numbers = grown(this.numbers, this.tail + 1)
      this.kinds = widened(this.kinds, this.numbers.length)
    }
    this.kinds[this.tail] = kind
    this.numbers[this.tail++] = number
    this.size++
  }

  private count(): void {
    this.size = this.tail - this.head
    if (this.size === 0) this.head = this.dueEnd = this.tail = 0
  }

  private flushTo(end: number): void {
    this.dueEnd = Math.max(this.dueEnd, end)
  }

  private isLast(kind: number, number: number): boolean {
    const last = this.tail - 1
    return last < this.dueEnd || (this.kinds[last] === kind && this.numbers[last] === number)
  }

  /** The number of the last `strings` strings that the last entry was the first to use, in that order. */
  private ownStrings(strings: number): number {
    const { entries, entryNames, names, strings: table } = this.tables
    const first = table.size - strings + 1
    // The entry's strings among them, each once, in the entry's order.
    const own: number[] = []
    const at = entryNames[entries]
    const end = entryNames[entries + 1]
    for (let p = at; p < end && own.length <= strings; p++) {
      const isLine = p > at && (p - at) % 3 === 0
      const name = names[p]
      if (!isLine && name >= first && !own.includes(name)) own.push(name)
    }
    let count = 0
    while (count < own.length && own[own.length - 1 - count] === table.size - count) count++
    return count
  }

  /** Writes the line of a definition. @returns its length */
  private text(kind: number, number: number): number {
    const { tables } = this
    if (kind === Definition.string) {
      const bytes = tables.strings.view(number - 1)
      const start =
        this.version >= SIZED_STRINGS ? this.numbersText('s', [bytes.length]) + 1 : this.numbersText('s', []) + 1
      this.room(start + bytes.length)
      this.line[start - 1] = SPACE
      this.line.set(bytes, start)
      return start + bytes.length
    }
    if (kind === Definition.node) {
      const entry = tables.nodeEntry[number]
      const parent = tables.nodeParent[number]
      return this.isRaw
        ? this.numbersText('t', [parent], tables.entryAddress, 2 * entry)
        : this.numbersText('t', [entry, parent])
    }
    if (kind === Definition.info) return this.numbersText('a', [tables.infoNode[number]], tables.infoSize, 2 * number)
    const { entryNames, names, entryAddress } = tables
    const all = names.subarray(entryNames[number], entryNames[number + 1])
    // Without a file, nothing follows the function.
    const end = all.length === 4 && all[2] === 0 && all[3] === 0 ? 2 : all.length
    return this.numbersText('i', all.subarray(0, end), entryAddress, 2 * number)
  }

  /** Writes a letter, a number of two words if given, and other numbers. @returns the length */
  private numbersText(letter: string, others: ArrayLike<number>, words?: Uint32Array, at = 0): number {
    this.room(20 + 9 * others.length)
    const { line } = this
    line[0] = letter.charCodeAt(0)
    let p = 1
    if (words !== undefined) {
      line[p++] = SPACE
      p = writeHex(line, p, words[at + LO], words[at + HI])
    }
    for (let i = 0; i < others.length; i++) {
      line[p++] = SPACE
      p = writeHex(line, p, others[i], 0)
    }
    return p
  }

  private room(length: number): void {
    if (length > this.line.length) this.line = widened(this.line, 2 * length)
  }
}

const SPACE = 0x20
