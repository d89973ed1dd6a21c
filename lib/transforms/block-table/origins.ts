import { hashWord } from '../../bytes/hash.js'
import { HI, LO } from '../../bytes/u64.js'
import { HashIndex } from '../../bytes/hash-index.js'
import { widened } from '../../bytes/widened.js'
import type { EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import { decodeText, StringTable } from '../../event/strings.js'
import { OwnFrames } from '../../names/own-frames.js'
import { Form, formOf, HAS_SITE, NO_FORM } from '../statistics/site-keys.js'
import { RowBit } from './columns.js'
import { KEY, Place, RECORD, setShown, siteText } from './place.js'
import type { StackNumbers } from './stack-numbers.js'

const { stack: HAS_STACK, function: HAS_FUNCTION, file: HAS_FILE, line: HAS_LINE } = FieldBit
const { module: HAS_MODULE, callSite: HAS_CALL_SITE, type: HAS_TYPE } = FieldBit
const KEPT = HAS_SITE | HAS_TYPE

/** The number of cached origins, found by the batch's ids of their names: a power of two. */
const CACHED = 1024
const CACHE_ENTRY = KEY + 1

/** In a record, this is added to the number of a stack, to distinguish it from a list. */
const NUMBERED = 0x4000_0000

/** A sweep is due when the memory exceeds twice the memory of the origins in use at the last sweep, plus this. */
const SLACK_BYTES = 4_194_304

const UNKNOWN = -1
const ROW_BITS: readonly (readonly [field: number, row: number])[] = [
  [HAS_STACK, RowBit.stack],
  [HAS_FUNCTION, RowBit.function],
  [HAS_FILE, RowBit.file],
  [HAS_LINE, RowBit.line],
  [HAS_MODULE, RowBit.module],
  [HAS_CALL_SITE, RowBit.callSite],
  [HAS_TYPE, RowBit.type],
]

/** New numbers during a sweep; 0 or -1 before an item has moved. */
interface Swept {
  readonly strings: StringTable
  readonly records: Uint32Array
  readonly stackNumbers: Uint32Array
  readonly moved: Uint32Array
  readonly names: Int32Array
  readonly lists: Int32Array
}

/**
 * The origins of live blocks, each distinct one once: all fields of the place of an allocation that rows have,
 * including those that do not determine its site. site-keys.ts decides which fields are the site, and `StackNumbers`
 * numbers the stacks. The names outlive the batches.
 *
 * Origins are not in a registry like these, which keeps everything: memory must not grow with the sites of blocks that
 * have ended. With 819,200 such sites, a process took 130 MB, and 268 MB with them in `SiteKeys`. Memory grows with the
 * number of origins of live blocks: the owner of the blocks moves those in use to a new table when a sweep is due.
 *
 * Record r is `records[r * RECORD ..]`: place.ts has its layout. Record 0 means no origin. Where whole stacks are not
 * needed, a stack is its number, and takes no memory here; one without a number, because there are too many, is a list.
 */
export class Origins {
  strings = new StringTable()
  records = new Uint32Array(64 * RECORD)
  private size = 1
  /** The records, and the lists. */
  private index = new HashIndex()
  private lists = new HashIndex()
  /** The numbers of stacks, by list. */
  private stackNumbers = new Uint32Array(64)
  private own = new OwnFrames()
  /** Names and lists of the current batch, by its ids. */
  private batch: StringTable | undefined
  private nameOf = new Int32Array(0)
  private listOf = new Int32Array(0)
  private readonly cache = new Uint32Array(CACHED * CACHE_ENTRY)
  private readonly key = new Uint32Array(KEY)
  /** Memory after the last sweep. */
  private kept = 0
  /** During a sweep, the moved items, and the new numbers of records, names and lists. */
  private old: Swept | undefined

  /** @param isWhole whether origins have their lists of frames, and the texts of their sites */
  constructor(
    private readonly numbers: StackNumbers,
    private readonly isWhole: boolean,
  ) {}

  /** The number of the stack of an origin; 0 if there was no room for it. @param stack as the record has it */
  stackNumber(stack: number): number {
    return stack >= NUMBERED ? stack - NUMBERED : this.stackNumbers[stack]
  }

  /** Prepares for the events of a batch. */
  begin({ strings, columns }: EventBatch): void {
    if ((columns & KEPT) === 0) return
    if (strings === this.batch && strings.size <= this.nameOf.length && strings.listCount <= this.listOf.length) return
    this.batch = strings
    this.nameOf = new Int32Array(strings.size).fill(UNKNOWN)
    this.listOf = new Int32Array(strings.listCount).fill(UNKNOWN)
    this.cache.fill(0)
  }

  /** The record of event i's origin, 0 if it has none. */
  of(batch: EventBatch, i: number): number {
    const mask = batch.mask[i] & KEPT
    if (mask === 0) return 0
    const stack = (mask & HAS_STACK) !== 0 ? batch.stack[i] : 0
    const name = (mask & HAS_FUNCTION) !== 0 ? batch.function[i] : 0
    const file = (mask & HAS_FILE) !== 0 ? batch.file[i] : 0
    const line = (mask & HAS_LINE) !== 0 ? batch.line[i] : 0
    const module = (mask & HAS_MODULE) !== 0 ? batch.module[i] : 0
    const type = (mask & HAS_TYPE) !== 0 ? batch.type[i] : 0
    const hasCall = (mask & HAS_CALL_SITE) !== 0
    const lo = hasCall ? batch.callSite.words[2 * i + LO] : 0
    const hi = hasCall ? batch.callSite.words[2 * i + HI] : 0
    const { cache } = this
    let hash = Math.imul(stack ^ Math.imul(name, 0x85eb_ca6b) ^ Math.imul(line, 0xc2b2_ae35), 0x9e37_79b1)
    hash = Math.imul(hash ^ (hash >>> 15) ^ lo ^ Math.imul(file ^ type, 0x27d4_eb2f), 0x9e37_79b1)
    const at = (hash >>> 22) * CACHE_ENTRY
    if (
      cache[at + Place.mask] === mask &&
      cache[at + Place.stack] === stack &&
      cache[at + Place.function] === name &&
      cache[at + Place.file] === file &&
      cache[at + Place.line] === line &&
      cache[at + Place.module] === module &&
      cache[at + Place.lo] === lo &&
      cache[at + Place.hi] === hi &&
      cache[at + Place.type] === type
    )
      return cache[at + KEY]
    const { key } = this
    let bits = 0
    for (const [field, row] of ROW_BITS) if ((mask & field) !== 0) bits |= row
    // MTRC always has a line, which is 0 where it is not known; lines count from 1.
    if (line === 0) bits &= ~RowBit.line
    key[Place.mask] = bits
    key[Place.stack] = (mask & HAS_STACK) !== 0 ? this.stack(stack) : 0
    key[Place.function] = (mask & HAS_FUNCTION) !== 0 ? this.name(name) : 0
    key[Place.file] = (mask & HAS_FILE) !== 0 ? this.name(file) : 0
    key[Place.line] = line
    key[Place.module] = (mask & HAS_MODULE) !== 0 ? this.name(module) : 0
    key[Place.lo] = lo
    key[Place.hi] = hi
    key[Place.type] = (mask & HAS_TYPE) !== 0 ? this.name(type) : 0
    const form = formOf(mask, line)
    const isPlace = form === Form.stack ? batch.strings.listView(stack).length > 0 : form !== NO_FORM
    if (isPlace) key[Place.mask] = bits | RowBit.site
    const record = this.intern(() => this.name(this.ownFrame(batch.strings, stack)))
    cache.set([mask, stack, name, file, line, module, lo, hi, type, record], at)
    return record
  }

  /** Whether unused origins may take most of the memory. */
  get isDue(): boolean {
    return this.memory > 2 * this.kept + SLACK_BYTES
  }

  /** Begins a sweep: items that are not moved are dropped. */
  beginSweep(): void {
    const { strings, records, size } = this
    this.old = {
      strings,
      records,
      stackNumbers: this.stackNumbers,
      moved: new Uint32Array(size),
      names: new Int32Array(strings.size).fill(UNKNOWN),
      lists: new Int32Array(strings.listCount).fill(UNKNOWN),
    }
    this.strings = new StringTable()
    this.records = new Uint32Array(64 * RECORD)
    this.size = 1
    this.index = new HashIndex()
    this.lists = new HashIndex()
    this.stackNumbers = new Uint32Array(64)
    this.own = new OwnFrames()
    this.batch = undefined
  }

  /** Keeps a record, and gives its new number. */
  move(record: number): number {
    const { key } = this
    const old = this.old as Swept
    const known = old.moved[record]
    if (known !== 0 || record === 0) return known
    const at = record * RECORD
    const bits = old.records[at]
    key.set(old.records.subarray(at, at + KEY))
    const rename = (place: number, bit: number) => {
      if ((bits & bit) !== 0) key[place] = this.movedName(key[place])
    }
    if ((bits & RowBit.stack) !== 0) {
      const list = key[Place.stack]
      if (list < NUMBERED) {
        if (old.lists[list] === UNKNOWN)
          old.lists[list] = this.internList(
            old.strings.listView(list).map((id) => this.movedName(id)),
            old.stackNumbers[list],
          )
        key[Place.stack] = old.lists[list]
      }
    }
    rename(Place.function, RowBit.function)
    rename(Place.file, RowBit.file)
    rename(Place.module, RowBit.module)
    rename(Place.type, RowBit.type)
    return (old.moved[record] = this.intern(() => this.movedName(old.records[at + Place.frame])))
  }

  endSweep(): void {
    this.old = undefined
    this.kept = this.memory
  }

  private get memory(): number {
    return this.strings.memory + 4 * (RECORD + 1) * this.size
  }

  private movedName(id: number): number {
    const { strings, names } = this.old as Swept
    if (names[id] === UNKNOWN) names[id] = this.strings.intern(strings.view(id))
    return names[id]
  }

  private name(id: number): number {
    const known = this.nameOf[id]
    if (known !== UNKNOWN) return known
    return (this.nameOf[id] = this.strings.intern((this.batch as StringTable).view(id)))
  }

  /** The value for a stack of the batch in records: its number, or a list. */
  private stack(id: number): number {
    const known = this.listOf[id]
    if (known !== UNKNOWN) return known
    const batch = this.batch as StringTable
    const number = this.numbers.of(batch, id)
    const isKept = this.isWhole || number === 0
    return (this.listOf[id] = isKept
      ? this.internList(
          batch.listView(id).map((name) => this.name(name)),
          number,
        )
      : NUMBERED + number)
  }

  /** @param number the number of the stack */
  private internList(names: Uint32Array, number: number): number {
    const { lists } = this
    const hash = hashOf(names, names.length)
    for (let known = lists.first(hash); known >= 0; known = lists.next(known)) {
      const there = this.strings.listView(known)
      if (there.length === names.length && there.every((name, n) => name === names[n])) return known
    }
    const list = this.strings.addList(names)
    lists.put(list, hash)
    if (list >= this.stackNumbers.length) this.stackNumbers = widened(this.stackNumbers, 2 * list)
    this.stackNumbers[list] = number
    return list
  }

  /** The record with the current key. @param frame the name of the own frame of a stack that has a number */
  private intern(frame: () => number): number {
    const { key, index } = this
    const hash = hashOf(key, KEY)
    for (let record = index.first(hash); record >= 0; record = index.next(record)) {
      const at = record * RECORD
      let place = 0
      while (place < KEY && this.records[at + place] === key[place]) place++
      if (place === KEY) return record
    }
    const record = this.size++
    const at = record * RECORD
    if (at + RECORD > this.records.length) this.records = widened(this.records, 2 * at)
    this.records.set(key, at)
    if ((key[Place.mask] & RowBit.site) !== 0) {
      const stack = key[Place.stack]
      if ((key[Place.mask] & RowBit.stack) === 0)
        this.records[at + Place.site] = this.records[at + Place.frame] = this.strings.intern(
          siteText(key, this.strings),
        )
      else {
        this.records[at + Place.frame] = stack >= NUMBERED ? frame() : this.ownFrame(this.strings, stack)
        if (this.isWhole) this.records[at + Place.site] = this.strings.intern(siteText(key, this.strings))
      }
    }
    setShown(this.records, at, this.strings)
    index.put(record, hash)
    return record
  }

  /** The innermost frame of a stack, which is not empty, that is not a wrapper of allocation. */
  private ownFrame(strings: StringTable, list: number): number {
    const stack = strings.listView(list)
    const texts = function* () {
      for (const frame of stack) yield decodeText(strings.view(frame))
    }
    return stack[this.own.start(texts())]
  }
}

function hashOf(words: Uint32Array, to: number): number {
  let h = to
  for (let at = 0; at < to; at++) h = hashWord(h, words[at])
  return h
}
