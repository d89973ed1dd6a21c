/**
 * The words of an entry: start, end (exclusive) and a key of the caller's, each with its high word first, and a tag of
 * the caller's.
 */
const ENTRY = 7

/** Entries per chunk, and children of a branch. An insertion moves at most half a chunk in most cases. */
const CHUNK = 128
const CHILDREN = 128

/** A leaf, and its neighbours. */
interface Chunk {
  readonly words: Uint32Array
  count: number
  before: Chunk | undefined
  after: Chunk | undefined
}

/** An inner node of the tree. */
interface Branch {
  readonly children: (Branch | Chunk)[]
  /**
   * For each child except the first, high word first: a lower bound of its starts, above the starts of the previous
   * child.
   */
  readonly bounds: Uint32Array
}

/**
 * Intervals of 64-bit addresses, ordered by start, each with a 64-bit key and a tag, to find which interval another one
 * overlaps. Starts are unique. The intervals are in the leaves of a B+ tree, so each operation takes time proportional
 * to the logarithm of their number. An entry takes 28 bytes; nodes are at least half full unless entries were removed.
 */
export class Intervals {
  /** The number of intervals. */
  size = 0
  /** The interval that `overlap` found. */
  startHi = 0
  startLo = 0
  endHi = 0
  endLo = 0
  keyHi = 0
  keyLo = 0
  tag = 0
  /** A chunk if the height is 0. */
  private root: Branch | Chunk = newChunk()
  private height = 0
  /** The branches from the root, at `height - 1`, to the chunk that `seek` found, and the child in each. */
  private readonly path: Branch[] = []
  private readonly children: number[] = []
  /** The result of the last `seek`: the chunk, what was searched for, and whether it was found. */
  private chunk = this.root as Chunk
  private entry = 0
  private soughtHi = 0
  private soughtLo = 0
  private isThere = false
  /** Whether nothing moved since. */
  private isSought = false

  clear(): void {
    this.root = this.chunk = newChunk()
    this.path.length = 0
    this.height = 0
    this.size = 0
    this.isSought = false
  }

  /** Adds an interval. It replaces one with the same start. All words are unsigned. */
  put(startHi: number, startLo: number, endHi: number, endLo: number, keyHi: number, keyLo: number, tag = 0): void {
    const isThere = this.seek(startHi, startLo)
    if (!isThere && this.chunk.count === CHUNK) {
      this.split()
      this.seek(startHi, startLo)
    }
    const { chunk } = this
    const { words } = chunk
    const at = this.entry * ENTRY
    if (!isThere) {
      words.copyWithin(at + ENTRY, at, chunk.count * ENTRY)
      chunk.count++
      this.size++
      this.isSought = false
    }
    words[at] = startHi
    words[at + 1] = startLo
    words[at + 2] = endHi
    words[at + 3] = endLo
    words[at + 4] = keyHi
    words[at + 5] = keyLo
    words[at + 6] = tag
  }

  /** Removes the interval with this start. @returns whether there was one */
  remove(startHi: number, startLo: number): boolean {
    if (!this.seek(startHi, startLo)) return false
    const { chunk } = this
    chunk.words.copyWithin(this.entry * ENTRY, (this.entry + 1) * ENTRY, chunk.count * ENTRY)
    chunk.count--
    this.size--
    if (chunk.count === 0 && this.height > 0) this.drop()
    this.isSought = false
    return true
  }

  /**
   * Searches for an interval that shares an address, or the start, with this one, among its two neighbours: the last
   * one that starts before it, and the first one that does not. If no stored intervals overlap each other, this finds
   * any overlap.
   * @returns whether there is one; `startHi` to `tag` then describe it
   */
  overlap(startHi: number, startLo: number, endHi: number, endLo: number): boolean {
    const isThere = this.seek(startHi, startLo)
    const { chunk: here, entry } = this
    const previous = entry > 0 ? here : here.before
    if (!isThere && previous !== undefined) {
      // A chunk is only empty if it is the only one.
      const { words, count } = previous
      const at = (entry > 0 ? entry - 1 : count - 1) * ENTRY
      if (less(startHi, startLo, words[at + 2], words[at + 3])) return this.found(words, at)
    }
    const isLast = entry === here.count
    const next = isLast ? here.after : here
    if (next === undefined) return false
    const { words } = next
    const at = isLast ? 0 : entry * ENTRY
    return isThere || less(words[at], words[at + 1], endHi, endLo) ? this.found(words, at) : false
  }

  private found(words: Uint32Array, at: number): true {
    this.startHi = words[at]
    this.startLo = words[at + 1]
    this.endHi = words[at + 2]
    this.endLo = words[at + 3]
    this.keyHi = words[at + 4]
    this.keyLo = words[at + 5]
    this.tag = words[at + 6]
    return true
  }

  /**
   * Moves to the first entry that does not start before this position, or to the end of the chunk where it belongs.
   * @returns whether an entry starts there
   */
  private seek(hi: number, lo: number): boolean {
    // An interval that overlaps nothing is usually added right after the search.
    if (this.isSought && hi === this.soughtHi && lo === this.soughtLo) return this.isThere
    let node = this.root
    for (let level = this.height - 1; level >= 0; level--) {
      const branch = node as Branch
      const { bounds } = branch
      let low = 0
      let high = branch.children.length - 1
      while (low < high) {
        const middle = (low + high + 1) >>> 1
        if (less(hi, lo, bounds[2 * middle], bounds[2 * middle + 1])) high = middle - 1
        else low = middle
      }
      this.path[level] = branch
      this.children[level] = low
      node = branch.children[low]
    }
    const chunk = node as Chunk
    const { words, count } = chunk
    let first = 0
    let last = count
    while (first < last) {
      const middle = (first + last) >>> 1
      if (less(words[middle * ENTRY], words[middle * ENTRY + 1], hi, lo)) first = middle + 1
      else last = middle
    }
    this.chunk = chunk
    this.isSought = true
    this.entry = first
    this.soughtHi = hi
    this.soughtLo = lo
    this.isThere = first < count && words[first * ENTRY] === hi && words[first * ENTRY + 1] === lo
    return this.isThere
  }

  /** Divides the chunk that `seek` found, and each branch above it that becomes too large. */
  private split(): void {
    const { chunk, path, children } = this
    const upper = newChunk()
    const half = chunk.count >>> 1
    upper.words.set(chunk.words.subarray(half * ENTRY, chunk.count * ENTRY))
    upper.count = chunk.count - half
    chunk.count = half
    upper.before = chunk
    upper.after = chunk.after
    if (chunk.after !== undefined) chunk.after.before = upper
    chunk.after = upper
    this.isSought = false
    let added: Branch | Chunk = upper
    let boundHi = upper.words[0]
    let boundLo = upper.words[1]
    for (let level = 0; level < this.height; level++) {
      const branch = path[level]
      insert(branch, children[level] + 1, added, boundHi, boundLo)
      if (branch.children.length <= CHILDREN) return
      added = newBranch(branch.children.splice(CHILDREN >>> 1))
      added.bounds.set(branch.bounds.subarray(CHILDREN))
      boundHi = added.bounds[0]
      boundLo = added.bounds[1]
    }
    const root = newBranch([this.root])
    insert(root, 1, added, boundHi, boundLo)
    this.root = root
    this.height++
  }

  /** Removes the chunk that `seek` found, and branches that have no other child. */
  private drop(): void {
    const { before, after } = this.chunk
    if (before !== undefined) before.after = after
    if (after !== undefined) after.before = before
    for (let level = 0; level < this.height; level++) {
      const { children, bounds } = this.path[level]
      const child = this.children[level]
      children.splice(child, 1)
      bounds.copyWithin(2 * child, 2 * child + 2, 2 * children.length + 2)
      if (children.length > 0) break
    }
    while (this.height > 0 && (this.root as Branch).children.length === 1) {
      this.root = (this.root as Branch).children[0]
      this.height--
    }
  }
}

function newChunk(): Chunk {
  return { words: new Uint32Array(CHUNK * ENTRY), count: 0, before: undefined, after: undefined }
}

function newBranch(children: (Branch | Chunk)[]): Branch {
  return { children, bounds: new Uint32Array(2 * (CHILDREN + 1)) }
}

function insert({ children, bounds }: Branch, at: number, child: Branch | Chunk, hi: number, lo: number): void {
  bounds.copyWithin(2 * at + 2, 2 * at, 2 * children.length)
  bounds[2 * at] = hi
  bounds[2 * at + 1] = lo
  children.splice(at, 0, child)
}

function less(aHi: number, aLo: number, bHi: number, bLo: number): boolean {
  return aHi < bHi || (aHi === bHi && aLo < bLo)
}
