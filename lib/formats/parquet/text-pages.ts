import { widened } from '../../bytes/widened.js'
import { BATCH_STRING_BYTES } from '../../event/batch.js'
import { showValue } from '../../event/message-text.js'
import { decodeText, encodeText, type StringTable } from '../../event/strings.js'
import type { TableColumn } from '../../event/table.js'
import { mapped, unescape, type Strings } from '../arrow/escape.js'
import { fieldsFromJson } from '../../event/json-record.js'
import { ParquetFault, ParquetLimit } from './fault.js'
import { Indices } from './int-source.js'
import { Encoding, MAX_TEXT } from './layout.js'
import { readTexts } from './read-texts.js'
import { TextStore } from './text-store.js'

/** The code of a name that is none. */
const UNKNOWN = 0xff

/** The texts of the pages of a column: ids in a store. */
export class TextPages {
  readonly store = new TextStore()
  private source: { read(ids: Uint32Array, from: number, count: number): void } = NO_TEXTS
  private dictionary = 0
  /** For each text, the code that it is the name of. */
  private codes = new Uint8Array(0)
  /** The bytes of the texts that were kept. */
  private kept = 0
  /** The faults of texts. */
  private readonly faults = new Map<number, string>()

  constructor(private readonly column: TableColumn) {}

  /** Whether texts that are not in the dictionary take much memory. Texts that had to be kept do not count. */
  get isLong(): boolean {
    return this.store.looseBytes > BATCH_STRING_BYTES + 2 * this.kept
  }

  /** Whether a batch should not get more texts. */
  isFull(table: StringTable): boolean {
    return table.byteLength > BATCH_STRING_BYTES
  }

  setDictionary(bytes: Uint8Array | undefined, count: number): void {
    this.store.begin(undefined)
    this.faults.clear()
    this.kept = 0
    this.dictionary = -1
    if (bytes === undefined) return
    const { strings, fault } = readTexts(bytes, Encoding.plain, count)
    if (fault !== undefined) throw fault
    if (strings.starts.length <= count) throw new ParquetFault('a dictionary has fewer values than it says')
    this.add(strings, true)
    this.dictionary = count
  }

  /** Begins a page with at most `count` texts. @throws ParquetFault, ParquetLimit */
  begin(bytes: Uint8Array, encoding: number, count: number): void {
    if (encoding === Encoding.rleDictionary || encoding === Encoding.plainDictionary) {
      if (this.dictionary < 0) throw new ParquetFault('a dictionary is missing')
      this.source = new Indices(bytes, this.dictionary)
      return
    }
    this.source = NO_TEXTS
    // A page with nulls alone may have no data.
    if (bytes.length === 0) return
    const { strings, fault } = readTexts(bytes, encoding, count)
    this.source = new Consecutive(this.add(strings, false), strings.starts.length - 1, fault)
  }

  /** Reads ids. @throws ParquetFault */
  read(ids: Uint32Array, from: number, count: number): void {
    this.source.read(ids, from, count)
  }

  /** Removes all texts of pages, except some. */
  keep(ids: Uint32Array): void {
    if (this.store.looseBytes === 0 && this.store.count <= Math.max(0, this.dictionary)) return
    for (const id of this.faults.keys()) if (id >= this.dictionary) this.faults.delete(id)
    this.store.keep(ids)
    this.kept = this.store.looseBytes
  }

  /** The code that a text is the name of. */
  code(id: number): number {
    return this.codes[id]
  }

  /** Whether some text has a fault. */
  get mayFault(): boolean {
    return this.faults.size > 0
  }

  /** The fault of a text. */
  faultOf(id: number): string | undefined {
    return this.faults.get(id)
  }

  private add(given: Strings, isDictionary: boolean): number {
    const { name, type, names } = this.column
    const { store, faults } = this
    let strings = type === 'bytes' ? given : unescape(given)
    const count = strings.starts.length - 1
    const bad = new Map<number, string>()
    const text = (i: number) => decodeText(strings.bytes.subarray(strings.starts[i], strings.starts[i + 1]))
    if (name === 'fields') strings = fieldsOf(strings, bad)
    for (let i = 0; i < count; i++)
      if (strings.starts[i + 1] - strings.starts[i] > MAX_TEXT)
        throw new ParquetLimit(`a text of more than ${MAX_TEXT} bytes`)
    if (isDictionary) store.begin(strings)
    const first = isDictionary ? 0 : store.append(strings)
    if (names !== undefined) {
      if (this.codes.length < first + count) this.codes = widened(this.codes, 2 * (first + count))
      for (let i = 0; i < count; i++) {
        const code = names.indexOf(text(i))
        this.codes[first + i] = code < 0 ? UNKNOWN : code
        if (code < 0) bad.set(i, `unknown ${name === 'kind' ? 'kind of event' : name} ${showValue(text(i))}`)
      }
    }
    for (const [i, fault] of bad) faults.set(first + i, fault)
    return first
  }
}

/** Texts of a page without a dictionary. */
class Consecutive {
  private next = 0

  constructor(
    private readonly first: number,
    private readonly count: number,
    private readonly fault: ParquetFault | undefined,
  ) {}

  read(ids: Uint32Array, from: number, count: number): void {
    const n = Math.min(count, this.count - this.next)
    for (let i = 0; i < n; i++) ids[from + i] = this.first + this.next + i
    this.next += n
    if (n < count) throw (this.fault ?? new ParquetFault('a page has fewer values than it says')).after(n)
  }
}

const NO_TEXTS = new Consecutive(0, 0, undefined)

/** Named values in JSON as events store them. @param faults gets what is wrong with texts, by their position */
function fieldsOf(strings: Strings, faults: Map<number, string>): Strings {
  return mapped(strings, (bytes, i) => {
    try {
      return encodeText(fieldsFromJson(decodeText(bytes)))
    } catch (error) {
      faults.set(i, (error as Error).message)
      return new Uint8Array(0)
    }
  })
}
