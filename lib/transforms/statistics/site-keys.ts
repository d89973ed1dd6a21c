import { HI, LO } from '../../bytes/u64.js'
import { hashOf } from '../../bytes/u64-map.js'
import type { EventBatch } from '../../event/batch.js'
import { Has } from '../../event/fields.js'
import { StringTable } from '../../event/strings.js'
import { FIRST, MAX_KEYS, NONE, OTHERS } from './keys.js'
import type { Site } from './result.js'

const HAS_STACK = Has.stack
const HAS_FUNCTION = Has.function
const HAS_FILE = Has.file
const HAS_LINE = Has.line
const HAS_CALL_SITE = Has.callSite
const HAS_SOURCE = HAS_FUNCTION | HAS_FILE | HAS_LINE
/** The fields that say where an allocation was made. */
export const HAS_SITE = HAS_STACK | HAS_SOURCE | HAS_CALL_SITE

/** The first word of a key says what it is made of. */
const Form = { stack: 0, source: 1, callSite: 2 } as const

/** Names of all sites together may take this many bytes; and the words of all keys, this many words. */
const MAX_NAME_BYTES = 16_777_216
const MAX_WORDS = 4_194_304

const UNKNOWN = -1
const NO_ROWS = new Int32Array(0)
/**
 * How many sources are cached, as a power of two, and what is kept of each: ids of function and file, line, and row.
 */
const CACHED_BITS = 11
const [CACHE_FUNCTION, CACHE_FILE, CACHE_LINE, CACHE_ROW, CACHE_ENTRY] = [0, 1, 2, 3, 4]

/**
 * Numbers the places that allocations come from by rows from `FIRST`. A place is the stack where there is one, else
 * function, file and line, else the call site. Their names outlive the batches: names and keys are kept here, as many
 * as the limits allow, and each event of a batch is looked up by the ids that the batch has for them.
 */
export class SiteKeys {
  /** One past the last row in use. */
  size = FIRST
  /** Whether there were more sites than rows. */
  overflowed = false
  private readonly names = new StringTable()
  private words = new Uint32Array(1024)
  /** Where the words of row r's key begin: `starts[r]`; they end where the next row's begin. */
  private readonly starts: number[] = [0, 0, 0]
  private heads = new Int32Array(1024)
  private chain = new Int32Array(1024)
  /** What is known of the strings of the batch in hand: names by string, rows by list. */
  private strings: StringTable | undefined
  private nameOf = NO_ROWS
  private rowOfList = NO_ROWS
  /** Rows by the ids of function and file and by line, for the batch in hand. */
  private readonly cache = new Int32Array(CACHE_ENTRY << CACHED_BITS)
  private key = new Uint32Array(64)

  /** @param limit how many sites get a row of their own */
  constructor(private readonly limit: number = MAX_KEYS) {}

  /** Makes ready for the events of a batch. */
  begin(batch: EventBatch): void {
    const { strings, columns } = batch
    if ((columns & (HAS_STACK | HAS_SOURCE)) === 0 || strings === this.strings) return
    this.strings = strings
    this.nameOf = new Int32Array(strings.size).fill(UNKNOWN)
    this.rowOfList = new Int32Array(strings.listCount).fill(UNKNOWN)
    this.cache.fill(UNKNOWN)
  }

  /** The row of event i's site, which has a field of `HAS_SITE`. */
  row(batch: EventBatch, i: number): number {
    const mask = batch.mask[i] as number
    if ((mask & HAS_STACK) !== 0) return this.stackRow(batch.stack[i] as number)
    if ((mask & HAS_SOURCE) !== 0) {
      // Ids from 1, so that 0 can stand for an absent one.
      const name = (mask & HAS_FUNCTION) !== 0 ? (batch.function[i] as number) + 1 : 0
      const file = (mask & HAS_FILE) !== 0 ? (batch.file[i] as number) + 1 : 0
      const line = (mask & HAS_LINE) !== 0 ? (batch.line[i] as number) : 0
      return (name | file | line) === 0 ? NONE : this.sourceRow(name, file, line)
    }
    const { key } = this
    key[0] = Form.callSite
    key[1] = batch.callSite.words[2 * i + LO] as number
    key[2] = batch.callSite.words[2 * i + HI] as number
    return this.intern(3)
  }

  /** What a row stands for. */
  site(row: number): Site {
    if (row < FIRST) return { rest: row === NONE ? 'none' : 'others' }
    const [form, ...words] = this.words.subarray(this.starts[row], this.starts[row + 1])
    if (form === Form.stack) return { stack: words.map((name) => this.names.text(name)) }
    const [first = 0, second = 0, line = 0] = words
    if (form === Form.callSite) return { callSite: (BigInt(second) << 32n) | BigInt(first) }
    return {
      ...(first > 0 && { function: this.names.text(first - 1) }),
      ...(second > 0 && { file: this.names.text(second - 1) }),
      ...(line > 0 && { line }),
    }
  }

  private stackRow(list: number): number {
    const known = this.rowOfList[list] as number
    if (known !== UNKNOWN) return known
    const frames = (this.strings as StringTable).list(list)
    if (frames.length >= this.key.length) this.key = new Uint32Array(2 * frames.length)
    let row: number = frames.length === 0 ? NONE : OTHERS
    this.key[0] = Form.stack
    let n = 0
    for (const frame of frames) {
      const name = this.name(frame)
      if (name === UNKNOWN) break
      this.key[++n] = name
    }
    if (n > 0 && n === frames.length) row = this.intern(n + 1)
    this.rowOfList[list] = row
    return row
  }

  private sourceRow(functionId: number, fileId: number, line: number): number {
    const { cache, key } = this
    const hash = Math.imul(functionId, 0x9e37_79b1) ^ Math.imul(fileId, 0x85eb_ca6b) ^ Math.imul(line, 0xc2b2_ae35)
    const at = CACHE_ENTRY * (hash >>> (32 - CACHED_BITS))
    // Only an entry in use has a row.
    if (
      cache[at + CACHE_FUNCTION] === functionId &&
      cache[at + CACHE_FILE] === fileId &&
      cache[at + CACHE_LINE] === (line | 0) &&
      cache[at + CACHE_ROW] !== UNKNOWN
    ) {
      return cache[at + CACHE_ROW] as number
    }
    key[0] = Form.source
    const name = functionId > 0 ? this.name(functionId - 1) : 0
    const file = fileId > 0 ? this.name(fileId - 1) : 0
    let row: number = OTHERS
    if (name !== UNKNOWN && file !== UNKNOWN) {
      key[1] = functionId > 0 ? name + 1 : 0
      key[2] = fileId > 0 ? file + 1 : 0
      key[3] = line
      row = this.intern(4)
    }
    cache[at + CACHE_FUNCTION] = functionId
    cache[at + CACHE_FILE] = fileId
    cache[at + CACHE_LINE] = line
    cache[at + CACHE_ROW] = row
    return row
  }

  /** The id in `names` of a string of the batch, or UNKNOWN when there is no room for another one. */
  private name(id: number): number {
    let name = this.nameOf[id] as number
    if (name !== UNKNOWN) return name
    const bytes = (this.strings as StringTable).view(id)
    if (this.names.byteLength + bytes.length > MAX_NAME_BYTES) {
      this.overflowed = true
      return UNKNOWN
    }
    name = this.names.intern(bytes)
    this.nameOf[id] = name
    return name
  }

  /** The row of the key in the first n words of `key`. */
  private intern(n: number): number {
    const { key, words, starts } = this
    const hash = hashWords(key, n)
    for (let row = this.heads[hash & (this.heads.length - 1)] as number; row !== 0; row = this.chain[row] as number) {
      const start = starts[row] as number
      if ((starts[row + 1] as number) - start !== n) continue
      let k = 0
      while (k < n && words[start + k] === key[k]) k++
      if (k === n) return row
    }
    return this.add(n, hash)
  }

  private add(n: number, hash: number): number {
    const start = this.starts[this.size] as number
    if (this.size - FIRST === this.limit || start + n > MAX_WORDS) {
      this.overflowed = true
      return OTHERS
    }
    if (start + n > this.words.length) {
      const words = new Uint32Array(Math.max(2 * this.words.length, start + n))
      words.set(this.words)
      this.words = words
    }
    for (let k = 0; k < n; k++) this.words[start + k] = this.key[k] as number
    const row = this.size++
    this.starts.push(start + n)
    if (row === this.chain.length) this.rehash()
    const slot = hash & (this.heads.length - 1)
    this.chain[row] = this.heads[slot] as number
    this.heads[slot] = row
    return row
  }

  /** Twice as many heads and links; the row added last is still to be linked. */
  private rehash(): void {
    const { words, starts } = this
    this.heads = new Int32Array(2 * this.heads.length)
    this.chain = new Int32Array(this.heads.length)
    for (let row = FIRST; row < this.size - 1; row++) {
      const start = starts[row] as number
      const slot =
        hashWords(words.subarray(start, starts[row + 1]), (starts[row + 1] as number) - start) & (this.heads.length - 1)
      this.chain[row] = this.heads[slot] as number
      this.heads[slot] = row
    }
  }
}

/**
 * A hash of n words that all of them have a part in: deep stacks often differ only in the middle. No trace can choose
 * words that collide.
 */
function hashWords(words: Uint32Array, n: number): number {
  let h = n
  for (let k = 0; k < n; k++) h = hashOf(words[k] as number, h)
  return h
}
