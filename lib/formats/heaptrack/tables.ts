import { widened } from '../../bytes/widened.js'
import { HI, LO } from '../../bytes/u64.js'
import { U64Map } from '../../bytes/u64-map.js'
import { StringTable } from '../../event/strings.js'
import { MAX_ENTRIES, MAX_NAMES, MAX_NODES, MAX_STRING_BYTES, MAX_STRINGS } from './layout.js'

/** A copy with room for at least `n` items, and for twice as many as before. */
export function grown(array: Uint32Array<ArrayBuffer>, n: number): Uint32Array<ArrayBuffer> {
  return widened(array, Math.max(2 * array.length, n, 1024))
}

/** The faults of definitions. */
export type Fault = 'full' | 'undefined'

/**
 * The definitions in a trace so far: strings, instructions, the nodes of the tree of stacks, and, in interpreted files,
 * infos, which blocks share. Numbers of strings, entries and nodes begin at 1, and 0 means none; numbers of infos begin
 * at 0. Each takes about as many bytes as its line, within limits.
 */
export class Tables {
  /** String n is `strings.view(n - 1)`. */
  readonly strings = new StringTable()
  /** Entry n: its address, and the position of its names in `names`, which end where the next entry's names begin. */
  entryAddress = new Uint32Array(2048)
  entryNames = new Uint32Array(1024)
  /**
   * Of an interpreted file: the module, and function, file and line of each frame. Of a raw file: the string of the
   * module and the module's address, as two words.
   */
  names = new Uint32Array(1024)
  entries = 0
  /** Node n: its entry and its parent. */
  nodeEntry = new Uint32Array(1024)
  nodeParent = new Uint32Array(1024)
  nodes = 0
  /** Info n: size as a pair of words, and node. */
  infoSize = new Uint32Array(2048)
  infoNode = new Uint32Array(1024)
  infos = 0
  /** Entries of raw files by address, while the modules stay the same. */
  private byAddress = new U64Map(1)
  private usedNames = 0

  /** Whether a number of two words identifies a node, or is 0. */
  hasNode(lo: number, hi: number): boolean {
    return hi === 0 && lo <= this.nodes
  }

  /** Whether a number of two words identifies an info. */
  hasInfo(lo: number, hi: number): boolean {
    return hi === 0 && lo < this.infos
  }

  /** Clears the entries by address, because the modules have changed. */
  newModules(): void {
    // Clearing a large map takes as long as filling it, even if it now has few entries.
    if (this.byAddress.size > 0) this.byAddress = new U64Map(1, 64)
  }

  addString(bytes: Uint8Array, start: number, end: number): Fault | undefined {
    const { strings } = this
    if (strings.size >= MAX_STRINGS || strings.byteLength + end - start > MAX_STRING_BYTES) return 'full'
    strings.add(bytes, start, end)
    return undefined
  }

  /** Adds an entry with the first `n` of some names. */
  addEntry(lo: number, hi: number, from: ArrayLike<number>, n: number): Fault | undefined {
    if (this.entries >= MAX_ENTRIES || this.usedNames + n > MAX_NAMES) return 'full'
    const entry = ++this.entries
    if (entry + 1 >= this.entryNames.length) {
      this.entryNames = grown(this.entryNames, entry + 2)
      this.entryAddress = grown(this.entryAddress, 2 * this.entryNames.length)
    }
    if (this.usedNames + n > this.names.length) this.names = grown(this.names, this.usedNames + n)
    for (let i = 0; i < n; i++) this.names[this.usedNames + i] = from[i]
    this.entryAddress[2 * entry + LO] = lo
    this.entryAddress[2 * entry + HI] = hi
    this.entryNames[entry] = this.usedNames
    this.usedNames += n
    this.entryNames[entry + 1] = this.usedNames
    return undefined
  }

  /** The entry of an address in a raw file, or 0 if there is none since the modules changed. */
  entryAt(lo: number, hi: number): number {
    const slot = this.byAddress.find(lo, hi)
    return slot < 0 ? 0 : this.byAddress.values[slot]
  }

  /** Registers the last entry for its address. */
  setEntryAt(lo: number, hi: number): void {
    const slot = this.byAddress.add(lo, hi)
    this.byAddress.values[slot] = this.entries
  }

  addNode(entry: number, parent: number): Fault | undefined {
    if (entry > this.entries || parent > this.nodes) return 'undefined'
    if (this.nodes >= MAX_NODES) return 'full'
    const node = ++this.nodes
    if (node >= this.nodeEntry.length) {
      this.nodeEntry = grown(this.nodeEntry, node + 1)
      this.nodeParent = grown(this.nodeParent, node + 1)
    }
    this.nodeEntry[node] = entry
    this.nodeParent[node] = parent
    return undefined
  }

  addInfo(lo: number, hi: number, node: number): Fault | undefined {
    if (node > this.nodes) return 'undefined'
    if (this.infos >= MAX_NODES) return 'full'
    const info = this.infos++
    if (info >= this.infoNode.length) {
      this.infoNode = grown(this.infoNode, info + 1)
      this.infoSize = grown(this.infoSize, 2 * this.infoNode.length)
    }
    this.infoSize[2 * info + LO] = lo
    this.infoSize[2 * info + HI] = hi
    this.infoNode[info] = node
    return undefined
  }
}
