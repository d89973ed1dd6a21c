import { Sink } from '../../bytes/sink.js'
import { U64Column, type EventBatch } from '../../event/batch.js'
import { GROUP_FIELDS, type GroupFieldType } from '../../event/fields.js'
import { GroupColumns, positions, type GroupColumn } from '../../event/groups.js'
import { showJson } from '../../event/message-text.js'
import { decodeText, encodeText, StringTable } from '../../event/strings.js'
import { BLOCK_EVENTS, MAX_NAME } from './layout.js'

/*
 * The fields of groups of a block's events are in a separate section before the block's. Few traces have such fields,
 * and the model of the payload only knows the fields of the core. README.md has the layout.
 */

/** The codes of types, by their positions. */
const TYPES: readonly GroupFieldType[] = ['u64', 'address', 'u32', 'i32', 'string']

/** The size of this section at which a block must end. */
const FULL_BYTES = 1 << 20
const MAX_U64 = 0xffff_ffff_ffff_ffffn
/** The maximum bytes of a number of 64 bits. */
const MAX_NUMBER = 10

/** Collects the fields of groups of the events of a block. */
export class GroupWriter {
  /** The number of events so far. */
  private count = 0
  private readonly fields = new Map<number, FieldWriter>()

  add({ groups, strings }: EventBatch, from: number, n: number): void {
    if (groups !== undefined) {
      for (let i = 0; i < n; i++) {
        for (const g of positions(groups.mask[from + i])) {
          let field = this.fields.get(g)
          if (field === undefined) this.fields.set(g, (field = new FieldWriter(GROUP_FIELDS[g].type)))
          field.add(this.count + i, groups.at(g), from + i, strings)
        }
      }
    }
    this.count += n
  }

  /** The number of events from `from` on, at most `most`, whose texts fit; none if those of the first are too long. */
  static fitting({ groups, strings }: EventBatch, from: number, most: number): number {
    if (groups === undefined || strings.byteLength <= FULL_BYTES) return most
    for (let n = 0, bytes = 0; n < most; n++) {
      for (const g of positions(groups.mask[from + n]))
        if (GROUP_FIELDS[g].type === 'string') bytes += strings.view((groups.at(g) as Uint32Array)[from + n]).length
      if (n === 0 && bytes > MAX_NAME) return 0
      if (n > 0 && bytes > FULL_BYTES) return n
    }
    return most
  }

  /** Whether the block must end. */
  get isFull(): boolean {
    let bytes = 0
    for (const { length } of this.fields.values()) bytes += length
    return bytes > FULL_BYTES
  }

  /** The body of the section of the block that ends; undefined if no event of it has such a field. */
  take(): Uint8Array | undefined {
    const { count, fields } = this
    const out = new Sink(256)
    writeNumber(out, count)
    writeNumber(out, fields.size)
    for (const [g, field] of [...fields].toSorted(([a], [b]) => a - b)) {
      const { name, type } = GROUP_FIELDS[g]
      writeText(out, name)
      writeNumber(out, TYPES.indexOf(type))
      field.end(out)
    }
    const isEmpty = fields.size === 0
    this.count = 0
    fields.clear()
    return isEmpty ? undefined : out.take()
  }
}

/** Collects a field: the events that have it, and its values. */
class FieldWriter {
  /** Lengths of runs of events, alternately without and with it. */
  private readonly runs = new Sink(64)
  private runCount = 0
  /** The start and the end of the last run of events that have it. */
  private begin = 0
  private next = 0
  /** The numbers of the values so far, from 1. */
  private readonly numbers = new Map<bigint | number | string, number>()
  private readonly values = new Sink(64)
  /** The number of the last value, and how often it was repeated. */
  private last = 0
  private repeated = 0

  constructor(private readonly type: GroupFieldType) {}

  get length(): number {
    return this.runs.pos + this.values.pos
  }

  add(event: number, column: GroupColumn, i: number, strings: StringTable): void {
    if (event !== this.next || event === 0) {
      if (this.next > this.begin) this.endRun()
      this.run(event - this.next)
      this.begin = event
    }
    this.next = event + 1
    const value =
      column instanceof U64Column ? column.values[i] : this.type === 'string' ? strings.text(column[i]) : column[i]
    const number = this.numbers.get(value)
    if (number !== undefined && number === this.last) {
      this.repeated++
      return
    }
    this.endRepeated()
    this.last = number ?? this.numbers.size + 1
    if (number !== undefined) {
      writeNumber(this.values, 2 * number)
      return
    }
    this.numbers.set(value, this.last)
    writeNumber(this.values, 0)
    if (typeof value === 'string') writeText(this.values, value)
    else writeNumber(this.values, this.type === 'i32' ? zigzag(value as number) : value)
  }

  /** Writes the field after its name and type. */
  end(out: Sink): void {
    this.endRepeated()
    this.endRun()
    writeNumber(out, this.runCount)
    out.append(this.runs.bytes.subarray(0, this.runs.pos))
    out.append(this.values.bytes.subarray(0, this.values.pos))
  }

  private endRun(): void {
    this.run(this.next - this.begin)
  }

  private run(length: number): void {
    writeNumber(this.runs, length)
    this.runCount++
  }

  private endRepeated(): void {
    if (this.repeated > 0) writeNumber(this.values, 2 * this.repeated - 1)
    this.repeated = 0
  }
}

/** The fields of groups of the events of a block. */
export interface BlockGroups {
  readonly count: number
  readonly groups: GroupColumns
  readonly strings: StringTable
}

/** Gives events of a block, which begin at its event `from`, their fields of groups. */
export function giveGroups({ groups, strings }: BlockGroups, from: number, batch: EventBatch): void {
  const part = groups.slice(from, from + batch.count)
  batch.groups = part?.translated(strings, batch.strings, batch.count)
}

/** A fault of a section. */
export class GroupsFault extends Error {}

/** Reads the body of a section. @throws GroupsFault */
export function readGroups(body: Uint8Array): BlockGroups {
  const input = new Numbers(body)
  const count = input.number(BLOCK_EVENTS)
  const groups = new GroupColumns(count)
  const strings = new StringTable()
  for (let left = input.number(GROUP_FIELDS.length); left > 0; left--) {
    const name = input.text()
    const type = TYPES[input.number(TYPES.length - 1)]
    const g = GROUP_FIELDS.findIndex((field) => field.name === name && field.type === type)
    if (g < 0) throw new GroupsFault(`events have the field ${showJson(name)}, which is not known: use a later version`)
    if (((groups.columns >>> g) & 1) !== 0) throw new GroupsFault(`the field ${name} is there twice`)
    readField(input, groups, g, type, strings)
  }
  if (!input.isAtEnd) throw new GroupsFault('more follows the fields of groups')
  return { count, groups, strings }
}

function readField(input: Numbers, groups: GroupColumns, g: number, type: GroupFieldType, strings: StringTable): void {
  const { capacity: count, mask } = groups
  const rows: number[] = []
  let at = 0
  for (let run = 0, runs = input.number(2 * BLOCK_EVENTS); run < runs; run++) {
    const length = input.number(count - at)
    if (run % 2 === 1) for (let i = at; i < at + length; i++) rows.push(i)
    at += length
  }
  const column = groups.add(g)
  /** By the number of a value, an event that has it. */
  const firsts: number[] = []
  let last = -1
  for (let r = 0; r < rows.length;) {
    const code = input.number(2 * BLOCK_EVENTS)
    const row = rows[r]
    if (code === 0) {
      if (type === 'string') (column as Uint32Array)[row] = strings.intern(input.bytes())
      else if (column instanceof U64Column) column.values[row] = input.wide()
      else column[row] = type === 'i32' ? unzigzag(input.number(0xffff_ffff)) : input.number(0xffff_ffff)
      firsts.push(row)
      last = row
      r++
    } else if (code % 2 === 0) {
      if (code / 2 > firsts.length) throw new GroupsFault('a value that did not come before')
      last = firsts[code / 2 - 1]
      copyValue(column, last, rows[r++])
    } else {
      const end = r + (code + 1) / 2
      if (last < 0 || end > rows.length) throw new GroupsFault('values for more events than there are')
      while (r < end) copyValue(column, last, rows[r++])
    }
  }
  for (const i of rows) mask[i] = mask[i] | (1 << g)
}

function copyValue(column: GroupColumn, from: number, to: number): void {
  if (column instanceof U64Column) column.values[to] = column.values[from]
  else column[to] = column[from]
}

function zigzag(value: number): number {
  return ((value << 1) ^ (value >> 31)) >>> 0
}

function unzigzag(value: number): number {
  return (value >>> 1) ^ -(value & 1)
}

/** Writes a number as unsigned LEB128. */
function writeNumber(out: Sink, value: number | bigint): void {
  out.reserve(MAX_NUMBER)
  let left = BigInt(value)
  for (; left >= 0x80n; left >>= 7n) out.bytes[out.pos++] = Number(left & 0x7fn) | 0x80
  out.bytes[out.pos++] = Number(left)
}

function writeText(out: Sink, text: string): void {
  const bytes = encodeText(text)
  writeNumber(out, bytes.length)
  out.append(bytes)
}

/** Reads the numbers and texts of a section. */
class Numbers {
  private at = 0

  constructor(private readonly body: Uint8Array) {}

  get isAtEnd(): boolean {
    return this.at === this.body.length
  }

  /** A number of 64 bits. */
  wide(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 7n * BigInt(MAX_NUMBER); shift += 7n) {
      if (this.isAtEnd) break
      const byte = this.body[this.at++]
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80 && value <= MAX_U64) return value
    }
    throw new GroupsFault('the fields of groups end within a number')
  }

  /** A number that is at most `most`. */
  number(most: number): number {
    const value = this.wide()
    if (value > BigInt(most)) throw new GroupsFault(`a number that is larger than ${most}`)
    return Number(value)
  }

  bytes(): Uint8Array {
    const length = this.number(this.body.length - this.at)
    if (length > this.body.length - this.at) throw new GroupsFault('the fields of groups end within a text')
    return this.body.subarray(this.at, (this.at += length))
  }

  text(): string {
    return decodeText(this.bytes())
  }
}
