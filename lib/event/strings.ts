import { widened } from '../bytes/widened.js'
import { hashBytes } from '../bytes/hash.js'
import { HashIndex } from '../bytes/hash-index.js'
import type { StackTree } from './stack-tree.js'

const NOTHING = new Uint8Array(0)
/** The start of the first string, or of the first list. */
const BEGIN = Uint32Array.of(0)
const NO_IDS = new Uint32Array(0)

/** Approximate memory of each string, list and id in a list, in addition to the bytes of the strings. */
const STRING_MEMORY = 24
const LIST_MEMORY = 64
const LISTED_MEMORY = 8

/**
 * All strings and lists of a table without gaps: string i is `bytes[starts[i]..starts[i + 1])`, list i has the string
 * ids `listed[lists[i]..lists[i + 1])`. So `starts` and `lists` are one longer than there are strings and lists.
 */
export interface FlatStrings {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly starts: Uint32Array<ArrayBuffer>
  readonly listed: Uint32Array<ArrayBuffer>
  readonly lists: Uint32Array<ArrayBuffer>
}

/**
 * The strings of a batch: bytes, each distinct string once, named by ids from 0. A batch has a table of its own, so
 * that memory does not grow with the number of distinct strings in a trace; batches made from one another may share it.
 *
 * Strings are kept as bytes, because names in traces need not be valid UTF-8. As a JavaScript string an invalid byte
 * 0xNN is the lone surrogate U+DCNN (Python's "surrogateescape"), so that every name survives unchanged.
 */
export class StringTable {
  private bytes = NOTHING
  /** `starts[id]` is the start of a string, and the next entry its end; `lists` does the same in `listed`. */
  private starts = BEGIN
  private listed = NO_IDS
  private lists = BEGIN
  private count = 0
  private listsCount = 0
  private readonly texts: (string | undefined)[] = []
  /** Of the strings below `indexed`; made when it is needed. */
  private index: HashIndex | undefined
  private indexed = 0
  private nodes = NO_IDS
  /** In place of `tree.depths`, where frames were added to stacks. */
  depths: Uint32Array | undefined

  /** @param tree the decoder's tree of stacks, if the lists are stacks of one */
  constructor(readonly tree?: StackTree) {}

  /** A table of existing strings and lists. Takes over the arrays: do not change them. */
  static of({
    bytes,
    starts,
    listed = NO_IDS,
    lists = BEGIN,
  }: Pick<FlatStrings, 'bytes' | 'starts'> & Partial<FlatStrings>): StringTable {
    const table = new StringTable()
    table.bytes = bytes
    table.starts = starts
    table.listed = listed
    table.lists = lists
    table.count = starts.length - 1
    table.listsCount = lists.length - 1
    return table
  }

  /** The number of strings; ids are below it. */
  get size(): number {
    return this.count
  }

  /** The number of lists; list ids are below it. */
  get listCount(): number {
    return this.listsCount
  }

  /** The total size of all strings in bytes. Decoders close a batch when this is large. */
  get byteLength(): number {
    return this.starts[this.count]
  }

  /** Its approximate memory in bytes: lists of short strings take far more than the strings. */
  get memory(): number {
    return (
      this.bytes.length +
      STRING_MEMORY * this.count +
      LIST_MEMORY * this.listsCount +
      LISTED_MEMORY * this.lists[this.listsCount]
    )
  }

  /** All strings and lists, in place: do not keep or change them. */
  flat(): FlatStrings {
    const lists = this.lists.subarray(0, this.listsCount + 1)
    const listed = this.listed.subarray(0, lists[this.listsCount])
    return {
      bytes: this.bytes.subarray(0, this.byteLength),
      starts: this.starts.subarray(0, this.count + 1),
      listed,
      lists,
    }
  }

  /** Adds `source[start..end)` without looking for an equal one, and returns its id. */
  add(source: Uint8Array, start = 0, end = source.length): number {
    const length = end - start
    const used = this.byteLength
    if (used + length > this.bytes.length) this.grow(length)
    if (length < 64) {
      for (let i = 0; i < length; i++) this.bytes[used + i] = source[start + i]
    } else {
      this.bytes.set(source.subarray(start, end), used)
    }
    if (this.count + 1 === this.starts.length) this.starts = longer(this.starts)
    this.starts[this.count + 1] = used + length
    return this.count++
  }

  /** Ensures room for strings of `length` bytes in total. */
  reserve(length: number): void {
    if (this.byteLength + length > this.bytes.length) this.grow(length, this.byteLength + length)
  }

  /** Adds a string of another table without looking for an equal one, and returns its id here. */
  addFrom(table: StringTable, id: number): number {
    return this.add(table.bytes, table.starts[id], table.starts[id + 1])
  }

  /** The id of the string equal to `source[start..end)`, added if there is none yet. */
  intern(source: Uint8Array, start = 0, end = source.length): number {
    const index = this.indexAll()
    const hash = hashBytes(source, start, end)
    for (let id = index.first(hash); id >= 0; id = index.next(id)) if (this.equals(id, source, start, end)) return id
    const id = this.add(source, start, end)
    index.put(id, hash)
    this.indexed = id + 1
    return id
  }

  /** The id of a string equal to `source`, or -1. */
  find(source: Uint8Array): number {
    const index = this.indexAll()
    let id = index.first(hashBytes(source, 0, source.length))
    while (id >= 0 && !this.equals(id, source, 0, source.length)) id = index.next(id)
    return id
  }

  /** The id of the string equal to `text`, added if there is none yet. */
  internText(text: string): number {
    return this.intern(encodeText(text))
  }

  /** Adds a list of string ids and returns the list's id. */
  addList(ids: ArrayLike<number>): number {
    const end = this.lists[this.listsCount]
    if (end + ids.length > this.listed.length) this.listed = longer(this.listed, end + ids.length)
    this.listed.set(ids, end)
    if (this.listsCount + 1 === this.lists.length) this.lists = longer(this.lists)
    this.lists[this.listsCount + 1] = end + ids.length
    return this.listsCount++
  }

  /**
   * Adds the stack of a node of `tree`, and returns the list's id.
   * @param own the ids of its innermost frames
   * @param rest a list that ends in its further frames
   * @param depth the number of these; for a consumer with `countsInfos` it is 0, and the list may be shorter than the
   *   stack
   */
  addStack(node: number, own: Uint32Array, rest: number, depth: number): number {
    const id = this.addList(own)
    if (depth > 0) {
      const to = this.lists[rest + 1]
      const end = this.lists[id + 1]
      if (end + depth > this.listed.length) this.listed = longer(this.listed, end + depth)
      this.listed.copyWithin(end, to - depth, to)
      this.lists[id + 1] = end + depth
    }
    if (id >= this.nodes.length) this.nodes = longer(this.nodes, id + 1)
    this.nodes[id] = node
    return id
  }

  /** The node of `tree` whose stack a list is, 0 for none. */
  nodeOf(list: number): number {
    return this.nodes[list] ?? 0
  }

  /** The string ids of a list. */
  list(id: number): number[] {
    return Array.from(this.listView(id))
  }

  /** The string ids of a list, in place: do not keep or change them. */
  listView(id: number): Uint32Array {
    return this.listed.subarray(this.lists[id], this.lists[id + 1])
  }

  /** A table with the same strings and lists under the same ids, to add to without changing this one. */
  copy(): StringTable {
    const { bytes, starts, listed, lists } = this.flat()
    return StringTable.of({
      bytes: bytes.slice(),
      starts: starts.slice(),
      listed: listed.slice(),
      lists: lists.slice(),
    })
  }

  /** A copy of the strings, without the lists. The lists that are added to it may be stacks of the same tree. */
  copyStrings(): StringTable {
    const { bytes, starts } = this.flat()
    const table = new StringTable(this.tree)
    table.bytes = bytes.slice()
    table.starts = starts.slice()
    table.count = starts.length - 1
    return table
  }

  /** A string's bytes, in place; the caller must not keep or change them. */
  view(id: number): Uint8Array {
    return this.bytes.subarray(this.starts[id], this.starts[id + 1])
  }

  /** A string as a JavaScript string; bytes that are not UTF-8 become lone surrogates. */
  text(id: number): string {
    return (this.texts[id] ??= decodeText(this.view(id)))
  }

  private equals(id: number, source: Uint8Array, start: number, end: number): boolean {
    const at = this.starts[id]
    if (this.starts[id + 1] - at !== end - start) return false
    for (let i = start, j = at; i < end; i++, j++) if (source[i] !== this.bytes[j]) return false
    return true
  }

  private grow(length: number, least = Math.max(1024, this.bytes.length * 2)): void {
    const used = this.byteLength
    const bigger = new Uint8Array(Math.max(least, used + length))
    bigger.set(this.bytes.subarray(0, used))
    this.bytes = bigger
  }

  /** The index, with the strings that `add` left out of it. */
  private indexAll(): HashIndex {
    const index = (this.index ??= new HashIndex())
    const { bytes, starts } = this
    for (; this.indexed < this.count; this.indexed++)
      index.put(this.indexed, hashBytes(bytes, starts[this.indexed], starts[this.indexed + 1]))
    return index
  }
}

/** A copy with four times the room, and for at least `n` words. Unused room takes no memory of the machine. */
function longer(array: Uint32Array<ArrayBuffer>, n = 16): Uint32Array<ArrayBuffer> {
  return widened(array, Math.max(16, array.length * 4, n))
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()
const PIECE = 65_536

/**
 * Bytes as a string: UTF-8, with each byte 0xNN that is not part of valid UTF-8 as the lone surrogate U+DCNN. Other
 * lone surrogates are the three bytes that UTF-8 would have for them, so that every string survives as well.
 */
export function decodeText(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch {
    return decodeDamaged(bytes)
  }
}

/** The same for bytes that are not all valid. */
function decodeDamaged(bytes: Uint8Array): string {
  let text = ''
  let valid = 0
  for (let i = 0; i < bytes.length;) {
    const length = validSequence(bytes, i)
    if (length > 0) {
      i += length
      continue
    }
    text += strict.decode(bytes.subarray(valid, i))
    const end = halvesEnd(bytes, i)
    const isKept = end > i && (surrogate(bytes, i) >= 0xdc00 || end === bytes.length || validSequence(bytes, end) > 0)
    if (isKept) for (; i < end; i += 3) text += String.fromCharCode(surrogate(bytes, i))
    else for (const last = Math.max(end, i + 1); i < last;) text += String.fromCharCode(0xdc00 + bytes[i++])
    valid = i
  }
  return text + strict.decode(bytes.subarray(valid))
}

/**
 * The end of the lone surrogates at `i` that are three bytes each: a second half of a pair, or a number of first
 * halves, which are bytes instead if something follows that could be taken for a second half. `i` if there are none.
 */
function halvesEnd(bytes: Uint8Array, i: number): number {
  let end = i
  while (surrogate(bytes, end) > 0 && surrogate(bytes, end) < 0xdc00) end += 3
  return end === i && surrogate(bytes, i) > 0 ? i + 3 : end
}

/** The surrogate encoded in three bytes at `i`; 0 if there is none, or if it stands for a byte. */
function surrogate(bytes: Uint8Array, i: number): number {
  const [second = 0, third = 0] = [bytes[i + 1], bytes[i + 2]]
  if (bytes[i] !== 0xed || second < 0xa0 || second > 0xbf || third >> 6 !== 2) return 0
  const code = 0xd000 | ((second & 0x3f) << 6) | (third & 0x3f)
  return isByteSign(code) ? 0 : code
}

function isByteSign(code: number): boolean {
  return code >= 0xdc80 && code <= 0xdcff
}

/** The inverse of `decodeText`. */
export function encodeText(text: string): Uint8Array {
  if (text.isWellFormed()) return encoder.encode(text)
  const parts: number[] = []
  for (const char of text) {
    const code = char.codePointAt(0) as number
    if (isByteSign(code)) parts.push(code - 0xdc00)
    else if (code >= 0xd800 && code <= 0xdfff) parts.push(0xed, 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f))
    else parts.push(...encoder.encode(char))
  }
  return Uint8Array.from(parts)
}

/** Texts as bytes, in pieces of about 64 KB. */
export function* textBytes(texts: Iterable<string>): Generator<Uint8Array> {
  let piece: string[] = []
  let length = 0
  for (const text of texts) {
    piece.push(text)
    length += text.length
    if (length < PIECE) continue
    yield encodeText(piece.join(''))
    piece = []
    length = 0
  }
  if (length > 0) yield encodeText(piece.join(''))
}

/** The length of the valid UTF-8 sequence at `i`, or 0 (RFC 3629, section 4). */
function validSequence(bytes: Uint8Array, i: number): number {
  const lead = bytes[i]
  if (lead < 0x80) return 1
  if (lead < 0xc2 || lead > 0xf4) return 0
  const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
  if (i + length > bytes.length) return 0
  // No longer than necessary, no surrogates, nothing beyond U+10FFFF.
  const second = bytes[i + 1]
  const least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80
  const most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf
  if (second < least || second > most) return 0
  for (let j = i + 2; j < i + length; j++) if ((bytes[j] & 0xc0) !== 0x80) return 0
  return length
}
