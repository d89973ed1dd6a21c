import { widened } from '../../bytes/widened.js'
import { BATCH_STRING_BYTES } from '../../event/batch.js'
import { formatFrame, type Frame } from '../../event/frame.js'
import type { StackTree } from '../../event/stack-tree.js'
import { decodeText, encodeText, StringTable } from '../../event/strings.js'
import { MAX_STACK_BYTES } from './layout.js'
import { u64 } from './modules.js'
import { grown, type Tables } from './tables.js'

/** Texts of frames are kept for later batches until they take this much memory, many times the limit for one stack. */
const MAX_KEPT = 8 << 20
/** A batch is closed when its strings and lists take this much memory. */
const MAX_BATCH = 4 << 20

/** The result of `list` for a stack whose texts are too long. */
export const TOO_LONG = -1
/** The result of `list` if a batch that is not empty has no room left. */
export const FULL = -2

/**
 * The stacks of events, as lists in the string table of a batch: the list of a node is created once per batch, and the
 * text of an entry once per trace, unless there are very many.
 */
export class Stacks {
  private strings!: StringTable
  /** The number of the batch, which shows whether the lists and ids below belong to it. */
  private batch = 0
  /**
   * By node, the last batch with its frames, and a list in that batch that ends with them, possibly the list of a
   * descendant. If frames come once, this is the last batch with a list of the node, and that list.
   */
  private coverBatch = new Uint32Array(0)
  private cover = new Uint32Array(0)
  /** The numbers of frames of nodes, and of bytes in their names. */
  private nodeDepth = new Uint32Array(0)
  private nodeBytes = new Uint32Array(0)
  private entryBatch = new Uint32Array(0)
  /** The position of the ids of an entry's frames in `ids`, after their number and the bytes of their texts. */
  private entryIds = new Uint32Array(0)
  private ids = new Uint32Array(1024)
  private idsUsed = 0
  /** The texts of the frames of entries; by entry, the number of the first plus 1, and their count. */
  private kept = new StringTable()
  private keptFirst = new Uint32Array(0)
  private keptCount = new Uint32Array(0)
  private stack = new Uint32Array(256)
  /** By node, for consumers that know stacks by their nodes: 1 if an earlier list has its frames. */
  private given = new Uint8Array(0)
  /** The tree of these stacks, for the strings of batches. */
  readonly tree: StackTree

  constructor(
    private readonly tables: Tables,
    private readonly isRaw: boolean,
    private readonly isBrief = false,
  ) {
    const depths = () => this.nodeDepth
    this.tree = {
      get parents() {
        return tables.nodeParent
      },
      get depths() {
        return depths()
      },
    }
  }

  /** Begins a batch with these strings. */
  begin(strings: StringTable): void {
    this.strings = strings
    this.batch++
    this.idsUsed = 0
  }

  /** The list of the stack whose innermost frame is a node other than 0, `TOO_LONG` or `FULL`. */
  list(node: number): number {
    if (this.coverBatch[node] === this.batch) {
      const list = this.cover[node]
      if (this.strings.nodeOf(list) === node) return list
    }
    return this.newList(node)
  }

  /** The texts of the frames of an entry, the innermost first. */
  textsOf(entry: number): string[] {
    return this.frames(entry).map(formatFrame)
  }

  private newList(node: number): number {
    const { tables, strings } = this
    const { byteLength, listCount, memory } = strings
    if (listCount > 0 && (byteLength > BATCH_STRING_BYTES || memory > MAX_BATCH)) return FULL
    if (node >= this.cover.length) {
      this.cover = grown(this.cover, tables.nodes + 1)
      this.coverBatch = grown(this.coverBatch, this.cover.length)
      this.nodeDepth = grown(this.nodeDepth, this.cover.length)
      this.nodeBytes = grown(this.nodeBytes, this.cover.length)
      if (this.isBrief) this.given = widened(this.given, this.cover.length)
    }
    if (tables.entries >= this.entryBatch.length) {
      this.entryBatch = grown(this.entryBatch, tables.entries + 1)
      this.entryIds = grown(this.entryIds, this.entryBatch.length)
      this.keptFirst = grown(this.keptFirst, this.entryBatch.length)
      this.keptCount = grown(this.keptCount, this.entryBatch.length)
    }
    const { nodeEntry, nodeParent } = tables
    const { batch, coverBatch, cover, given, isBrief } = this
    let depth = 0
    let bytes = 0
    let at = node
    for (; at !== 0 && (isBrief ? given[at] === 0 : coverBatch[at] !== batch); at = nodeParent[at]) {
      const entry = nodeEntry[at]
      const from = this.entryBatch[entry] === batch ? this.entryIds[entry] : this.newIds(entry)
      if (from < 0) return TOO_LONG
      const { ids } = this
      const n = ids[from]
      bytes += ids[from + 1]
      if (bytes > MAX_STACK_BYTES) return TOO_LONG
      if (depth + n > this.stack.length) this.stack = grown(this.stack, depth + n)
      for (let i = from + 2; i < from + 2 + n; i++) this.stack[depth++] = ids[i]
    }
    const restDepth = at === 0 ? 0 : this.nodeDepth[at]
    if (at !== 0) bytes += this.nodeBytes[at]
    if (bytes > MAX_STACK_BYTES) return TOO_LONG
    // The further frames are copied from a list of this batch. If frames come once, they are left out.
    const list = strings.addStack(node, this.stack.subarray(0, depth), cover[at], isBrief ? 0 : restDepth)
    this.setCover(node, at, list, depth + restDepth, bytes)
    return list
  }

  /** Notes the content of a new list: the frames of a node, and of its ancestors below `end`. */
  private setCover(node: number, end: number, list: number, depth: number, bytes: number): void {
    const { cover, coverBatch, nodeDepth, nodeBytes, batch, ids, entryIds, isBrief, given } = this
    const { nodeParent, nodeEntry } = this.tables
    cover[node] = list
    coverBatch[node] = batch
    let left = depth
    let leftBytes = bytes
    for (let at = node; at !== end; at = nodeParent[at]) {
      if (isBrief) given[at] = 1
      else {
        cover[at] = list
        coverBatch[at] = batch
      }
      nodeDepth[at] = left
      nodeBytes[at] = leftBytes
      const from = entryIds[nodeEntry[at]]
      left -= ids[from]
      leftBytes -= ids[from + 1]
    }
  }

  /** Adds the texts of an entry's frames to the strings. @returns the position of their ids, or `TOO_LONG` */
  private newIds(entry: number): number {
    if (this.keptFirst[entry] === 0 && !this.keep(entry)) return TOO_LONG
    const { kept, strings } = this
    const first = this.keptFirst[entry] - 1
    const n = this.keptCount[entry]
    const from = this.idsUsed
    if (from + n + 2 > this.ids.length) this.ids = grown(this.ids, from + n + 2)
    let bytes = 0
    for (let i = 0; i < n; i++) {
      const text = kept.view(first + i)
      bytes += text.length
      this.ids[from + 2 + i] = strings.intern(text)
    }
    this.ids[from] = n
    this.ids[from + 1] = bytes
    this.idsUsed = from + n + 2
    this.entryBatch[entry] = this.batch
    this.entryIds[entry] = from
    return from
  }

  /** Keeps the texts of an entry's frames. @returns whether they are short enough */
  private keep(entry: number): boolean {
    if (this.isTooLong(entry)) return false
    if (this.kept.memory > MAX_KEPT) {
      this.kept = new StringTable()
      this.keptFirst.fill(0)
    }
    const frames = this.frames(entry)
    this.keptFirst[entry] = this.kept.size + 1
    this.keptCount[entry] = frames.length
    for (const frame of frames) this.kept.add(encodeText(formatFrame(frame)))
    return true
  }

  /** Whether the names of an entry exceed the limit for a stack. */
  private isTooLong(entry: number): boolean {
    const { entryNames, names, strings } = this.tables
    let bytes = 0
    const end = this.isRaw ? entryNames[entry] : entryNames[entry + 1]
    for (let p = entryNames[entry] + 1; p < end && bytes <= MAX_STACK_BYTES; p += 3) {
      for (let name = p; name < p + 2; name++) {
        const string = names[name]
        if (string !== 0) bytes += strings.view(string - 1).length
      }
    }
    return bytes > MAX_STACK_BYTES
  }

  /** The frames of an entry, the innermost first: all but the last one are inlined. */
  private frames(entry: number): Frame[] {
    const { tables } = this
    if (entry === 0) return [{}]
    const { entryNames, names, entryAddress } = tables
    const at = entryNames[entry]
    const end = entryNames[entry + 1]
    const value = u64(entryAddress, 2 * entry)
    const module = this.text(names[at])
    if (this.isRaw) {
      if (at === end) return [{ address: value }]
      return [
        {
          ...(module !== undefined && { module, offset: BigInt.asUintN(64, value - u64(names, at + 1)) }),
          address: value,
        },
      ]
    }
    // An address equal to the number of its entry means that there is none: the encoder writes such addresses.
    const last: Frame = { ...(module !== undefined && { module }), ...(value !== BigInt(entry) && { address: value }) }
    const frames: Frame[] = []
    for (let p = at + 1; p < end; p += 3) {
      const name = this.text(names[p])
      const file = this.text(names[p + 1])
      const line = names[p + 2]
      frames.push({
        ...(name !== undefined && { function: name }),
        ...(file !== undefined && { file, line }),
        ...(p + 3 < end ? { inlined: true } : last),
      })
    }
    return frames.length === 0 ? [last] : frames
  }

  private text(string: number): string | undefined {
    return string === 0 ? undefined : decodeText(this.tables.strings.view(string - 1))
  }
}
