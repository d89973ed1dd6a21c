import { HI, LO, wide } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import { endWithoutAddress } from '../../event/frame.js'
import type { StackTree } from '../../event/stack-tree.js'
import { StringTable } from '../../event/strings.js'
import { FIRST, MAX_KEYS, NONE, OTHERS } from '../../blocks/bounded-keys.js'
import { NO_NODE, Paths } from './paths.js'
import type { Site } from './result.js'
import { widened } from '../../bytes/widened.js'

const { stack: HAS_STACK, function: HAS_FUNCTION, file: HAS_FILE, line: HAS_LINE, callSite: HAS_CALL_SITE } = FieldBit
const { module: HAS_MODULE } = FieldBit
const HAS_SOURCE = HAS_FUNCTION | HAS_FILE | HAS_LINE
/** The fields with the place of an allocation. */
export const HAS_SITE = HAS_STACK | HAS_SOURCE | HAS_CALL_SITE | HAS_MODULE

/** The kinds of keys, which are the roots of the paths of all keys. */
export const Form = { stack: 0, source: 1, callSite: 2, module: 3 } as const
const FORMS = 4
/** Stands for an event without fields that name a place. */
export const NO_FORM = -1

/**
 * Which fields of an event are its site, for all views: one of `Form`. An empty stack does not name a place.
 * @param mask of the event
 * @param line its line, if it has one: line 0 is no line
 */
export function formOf(mask: number, line: number): number {
  if ((mask & HAS_STACK) !== 0) return Form.stack
  if ((mask & HAS_SOURCE) !== 0) return (mask & (HAS_FUNCTION | HAS_FILE)) !== 0 || line !== 0 ? Form.source : NO_FORM
  return (mask & HAS_CALL_SITE) !== 0 ? Form.callSite : (mask & HAS_MODULE) !== 0 ? Form.module : NO_FORM
}

/** The limits of a registry of sites, and what distinguishes them. */
export interface SiteLimits {
  /** The maximum number of sites with their own row. */
  readonly rows?: number
  /** The maximum number of nodes of their keys, with the four roots: some 45 bytes each. Keys share common nodes. */
  readonly nodes?: number
  /** The maximum number of bytes of all names. */
  readonly bytes?: number
  /** Frames with an offset in a module keep their addresses: sites of several runs are different then. */
  readonly keepsAddresses?: boolean
}

/** The maximum number of bytes in the names of all sites. */
const MAX_NAME_BYTES = 16_777_216

/** In place of a name or a row: not looked up in this batch. */
const UNKNOWN = -1
/** In place of a name: the event has no name, or there was no room for it. */
const NO_NAME = -2
const NO_ROOM = -3
/** The path of a node whose path had no room. */
const NO_PATH = -1
const NO_ROWS = new Int32Array(0)
/** The number of cached sources, a power of two, and the layout of each: ids of function and file, line, and row. */
const CACHED_BITS = 11
const [CACHE_FUNCTION, CACHE_FILE, CACHE_LINE, CACHE_ROW, CACHE_ENTRY] = [0, 1, 2, 3, 4]

/**
 * Assigns rows, from `FIRST`, to the places of allocations. A place is the stack if there is one, otherwise function,
 * file and line, otherwise the call site in its module, either of which may be unknown. Where modules were loaded does
 * not matter, so that runs of a program have the same places. Names and keys are kept here beyond the batches, as many
 * as the limits allow, and the events of a batch are looked up by the batch's ids.
 *
 * The words of a key are the names of a stack's frames from the outermost one on; or function and file, each as the
 * number of a name plus 1, or 0, and the line; or the module of a call site, in the same form, and the call site's two
 * words; or only the module.
 */
export class SiteKeys {
  /** One past the last row in use. */
  size = FIRST
  /** Whether there was no room for the site of some event, which has the row `OTHERS`. */
  overflowed = false
  readonly names = new StringTable()
  readonly paths: Paths
  /** The node of row r's key, and the row of a node, 0 for none. */
  private nodes = new Int32Array(64)
  private forms = new Uint8Array(64)
  private rows = new Int32Array(64)
  /** Known strings of the current batch: names by string, rows by list. */
  private strings: StringTable | undefined
  private nameOf = NO_ROWS
  private rowOfList = NO_ROWS
  /** The tree of stacks of the current trace; by its nodes, the nodes of their paths plus 1, or `NO_PATH`. */
  private tree: StackTree | undefined
  private pathOf = NO_ROWS
  private readonly walked: number[] = []
  /** Rows by the ids of function and file and by line, for the current batch. */
  private readonly cache = new Int32Array(CACHE_ENTRY << CACHED_BITS)
  private key = new Uint32Array(64)

  private readonly limit: number
  private readonly bytes: number
  private readonly keepsAddresses: boolean

  constructor({ rows = MAX_KEYS, nodes, bytes = MAX_NAME_BYTES, keepsAddresses = false }: SiteLimits = {}) {
    this.limit = rows
    this.bytes = bytes
    this.keepsAddresses = keepsAddresses
    this.paths = new Paths(FORMS, nodes)
  }

  /** Prepares for the events of a batch. The stacks of its tree may leave out frames that earlier lists had. */
  begin({ strings, columns }: EventBatch): void {
    if ((columns & (HAS_STACK | HAS_SOURCE | HAS_MODULE)) === 0) return
    if (this.beginStrings(strings) && strings.tree !== undefined) this.learn(strings, strings.tree)
  }

  /**
   * Prepares for the strings and lists of a table with whole stacks, unlike `begin`. Only the stacks for which
   * `stackRow` is called take room.
   * @returns whether the table is another one, or has grown
   */
  beginStrings(strings: StringTable): boolean {
    // Batches may share a table that grows.
    const isSame = strings.size === this.nameOf.length && strings.listCount === this.rowOfList.length
    if (strings === this.strings && isSame) return false
    this.strings = strings
    if (strings.tree !== this.tree) {
      this.tree = strings.tree
      this.pathOf.fill(0)
    }
    this.nameOf = new Int32Array(strings.size).fill(UNKNOWN)
    this.rowOfList = new Int32Array(strings.listCount).fill(UNKNOWN)
    this.cache.fill(UNKNOWN)
    return true
  }

  /** The row of the site of event i, which must have a field of `HAS_SITE`. */
  row(batch: EventBatch, i: number): number {
    const mask = batch.mask[i]
    const line = (mask & HAS_LINE) !== 0 ? batch.line[i] : 0
    const form = formOf(mask, line)
    if (form === Form.stack) return this.stackRow(batch.stack[i])
    if (form === Form.source) {
      // Ids from 1, so that 0 can mean an absent one.
      const name = (mask & HAS_FUNCTION) !== 0 ? batch.function[i] + 1 : 0
      const file = (mask & HAS_FILE) !== 0 ? batch.file[i] + 1 : 0
      return this.sourceRow(name, file, line)
    }
    if (form === NO_FORM) return NONE
    const module = (mask & HAS_MODULE) !== 0 ? this.name(batch.module[i]) : NO_NAME
    if (module === NO_ROOM) return this.overflow()
    const { key } = this
    key[0] = module === NO_NAME ? 0 : module + 1
    if (form === Form.module) return this.intern(Form.module, 1)
    key[1] = batch.callSite.words[2 * i + HI]
    key[2] = batch.callSite.words[2 * i + LO]
    return this.intern(Form.callSite, 3)
  }

  /** The node of a row's key; rows from `FIRST` on have one. */
  node(row: number): number {
    return this.nodes[row]
  }

  /** The kind of a row's key, one of `Form`; rows from `FIRST` on have one. */
  form(row: number): number {
    return this.forms[row]
  }

  /** The site of a row. */
  site(row: number): Site {
    if (row < FIRST) return { rest: row === NONE ? 'none' : 'others' }
    const { names, paths } = this
    const node = this.node(row)
    const form = this.form(row)
    const words = form === Form.stack ? [] : paths.reversed(node)
    if (form === Form.stack)
      return {
        get stack() {
          return paths.reversed(node).map((name) => names.text(name))
        },
      }
    const [last = 0, file = 0, name = 0] = words
    if (form === Form.module) return { module: names.text(last - 1) }
    if (form === Form.callSite)
      return {
        ...(name > 0 && { module: names.text(name - 1) }),
        callSite: wide(last, file),
      }
    return {
      ...(name > 0 && { function: names.text(name - 1) }),
      ...(file > 0 && { file: names.text(file - 1) }),
      ...(last > 0 && { line: last }),
    }
  }

  /** The row of the empty stack, which is not a site but has a number among stacks. */
  emptyStackRow(): number {
    return this.intern(Form.stack, 0)
  }

  /** The row of a stack of the table for which `begin` or `beginStrings` was called; `NONE` for an empty one. */
  stackRow(list: number): number {
    const known = this.rowOfList[list]
    if (known !== UNKNOWN) return known
    const strings = this.strings as StringTable
    const treeNode = strings.nodeOf(list)
    const frames = strings.listView(list)
    if (treeNode !== 0)
      return (this.rowOfList[list] = this.rowAt(this.path(treeNode, frames, strings.tree as StackTree), Form.stack))
    if (frames.length > this.key.length) this.key = new Uint32Array(2 * frames.length)
    let n = 0
    for (let f = frames.length - 1; f >= 0; f--) {
      const name = this.name(frames[f])
      if (name === NO_ROOM) break
      this.key[n++] = name
    }
    const row = n < frames.length ? this.overflow() : n > 0 ? this.intern(Form.stack, n) : NONE
    this.rowOfList[list] = row
    return row
  }

  /**
   * The frames of a stack of the table for which `begin` or `beginStrings` was called, the innermost first. The stack
   * need not have a row.
   * @param most the number of frames that are enough
   */
  framesOf(list: number, most: number): string[] {
    const { names, paths } = this
    const strings = this.strings as StringTable
    const frames = strings.listView(list)
    const node = strings.nodeOf(list)
    const path = node === 0 ? NO_PATH : this.path(node, frames, strings.tree as StackTree)
    if (path >= 0) return paths.reversed(path, most).map((name) => names.text(name))
    // It is not in the tree, or there was no room for it.
    return Array.from(frames.subarray(0, most), (name) => strings.text(name))
  }

  /** Reads the frames of new nodes, because later lists may leave them out. */
  private learn(strings: StringTable, tree: StackTree): void {
    for (let list = 0; list < strings.listCount; list++) {
      const node = strings.nodeOf(list)
      if (node !== 0 && (this.pathOf[node] ?? 0) === 0) this.path(node, strings.listView(list), tree)
    }
  }

  /** The path of a stack that is a node of a tree. Only the frames of new nodes are read. */
  private path(node: number, frames: Uint32Array, tree: StackTree): number {
    const { parents } = tree
    const depths = this.strings?.depths ?? tree.depths
    if (parents.length > this.pathOf.length) this.pathOf = widened(this.pathOf, parents.length)
    const { pathOf, walked, paths } = this
    let at = node
    for (; at !== 0 && pathOf[at] === 0; at = parents[at]) walked.push(at)
    let path = at === 0 ? Form.stack : pathOf[at] - 1
    // A list may leave out outermost frames that earlier ones had.
    const depth = depths[node]
    let left = depth - (at === 0 ? 0 : depths[at])
    for (let next = walked.pop(); next !== undefined; next = walked.pop()) {
      const end = depth - depths[next]
      while (left > end && path >= 0) {
        const name = this.name(frames[--left])
        path = name === NO_ROOM ? NO_NODE : paths.child(path, name)
      }
      pathOf[next] = path < 0 ? NO_PATH : path + 1
    }
    return path
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
      return cache[at + CACHE_ROW]
    }
    const name = functionId > 0 ? this.name(functionId - 1) : 0
    const file = fileId > 0 ? this.name(fileId - 1) : 0
    let row: number
    if (name === NO_ROOM || file === NO_ROOM) row = this.overflow()
    else {
      key[0] = functionId > 0 ? name + 1 : 0
      key[1] = fileId > 0 ? file + 1 : 0
      key[2] = line
      row = this.intern(Form.source, 3)
    }
    cache[at + CACHE_FUNCTION] = functionId
    cache[at + CACHE_FILE] = fileId
    cache[at + CACHE_LINE] = line
    cache[at + CACHE_ROW] = row
    return row
  }

  /** The id in `names` of a string of the batch, or `NO_ROOM`. */
  private name(id: number): number {
    const known = this.nameOf[id]
    if (known !== UNKNOWN) return known
    const text = (this.strings as StringTable).view(id)
    const bytes = this.keepsAddresses ? text : text.subarray(0, endWithoutAddress(text))
    const isRoom = this.names.byteLength + bytes.length <= this.bytes
    const name = isRoom ? this.names.intern(bytes) : this.names.find(bytes)
    return (this.nameOf[id] = name < 0 ? NO_ROOM : name)
  }

  private overflow(): number {
    this.overflowed = true
    return OTHERS
  }

  /** The row of the key in the first n words of `key`. */
  private intern(form: number, n: number): number {
    return this.rowAt(this.paths.find(form, this.key, n), form)
  }

  /** The row of a path, which may be `NO_NODE` or beyond. */
  private rowAt(node: number, form: number): number {
    const row = node >= 0 && node < this.rows.length ? this.rows[node] : 0
    if (row !== 0) return row
    return node < 0 || this.size - FIRST === this.limit ? this.overflow() : this.add(node, form)
  }

  private add(node: number, form: number): number {
    const row = this.size++
    while (node >= this.rows.length) this.rows = widened(this.rows, 2 * this.rows.length)
    if (row === this.nodes.length) {
      this.nodes = widened(this.nodes, 2 * row)
      this.forms = widened(this.forms, 2 * row)
    }
    this.rows[node] = row
    this.nodes[row] = node
    this.forms[row] = form
    return row
  }
}
