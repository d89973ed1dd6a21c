/**
 * The words of an entry: start, end (exclusive) and a key of the caller's, each with its high word first, and a tag of
 * the caller's.
 */
const ENTRY = 7

/** Entries per chunk. An insertion moves at most half a chunk in most cases. */
const CHUNK = 128

interface Chunk {
  readonly words: Uint32Array
  count: number
}

/**
 * Intervals of 64-bit addresses, ordered by start, each with a 64-bit key and a tag, to find which interval another one
 * overlaps. Starts are unique. The list is cut into chunks, so that entries can be added and removed in the middle. An
 * entry takes 28 bytes; chunks are at least half full unless entries were removed.
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
  private readonly chunks: Chunk[] = [newChunk()]
  /**
   * For each chunk except the first, high word first: a lower bound of its starts, above those of the chunk before.
   * Keeping the bounds together makes searches faster.
   */
  private bounds = new Uint32Array(8)
  /**
   * The result of the last `seek`: the chunk (-1 once anything moved), what was searched for, and whether it was found.
   */
  private chunk = -1
  private entry = 0
  private soughtHi = 0
  private soughtLo = 0
  private isThere = false

  clear(): void {
    this.chunks.length = 1
    ;(this.chunks[0] as Chunk).count = 0
    this.size = 0
    this.chunk = -1
  }

  /** Adds an interval. It replaces one with the same start. All words are unsigned. */
  put(startHi: number, startLo: number, endHi: number, endLo: number, keyHi: number, keyLo: number, tag = 0): void {
    const isThere = this.seek(startHi, startLo)
    if (!isThere && (this.chunks[this.chunk] as Chunk).count === CHUNK) {
      this.split(this.chunk)
      this.seek(startHi, startLo)
    }
    const chunk = this.chunks[this.chunk] as Chunk
    const { words } = chunk
    const at = this.entry * ENTRY
    if (!isThere) {
      words.copyWithin(at + ENTRY, at, chunk.count * ENTRY)
      chunk.count++
      this.size++
      this.chunk = -1
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
    const chunk = this.chunks[this.chunk] as Chunk
    chunk.words.copyWithin(this.entry * ENTRY, (this.entry + 1) * ENTRY, chunk.count * ENTRY)
    chunk.count--
    this.size--
    if (chunk.count === 0 && this.chunks.length > 1) {
      this.chunks.splice(this.chunk, 1)
      this.bounds.copyWithin(2 * this.chunk, 2 * this.chunk + 2, 2 * this.chunks.length + 2)
    }
    this.chunk = -1
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
    const { chunks, chunk: c, entry } = this
    const here = chunks[c] as Chunk
    if (!isThere && (entry > 0 || c > 0)) {
      // Only the first chunk may be empty, and only if it is the only one.
      const { words, count } = entry > 0 ? here : (chunks[c - 1] as Chunk)
      const at = (entry > 0 ? entry - 1 : count - 1) * ENTRY
      if (less(startHi, startLo, words[at + 2] as number, words[at + 3] as number)) return this.found(words, at)
    }
    const isLast = entry === here.count
    const next = isLast ? chunks[c + 1] : here
    if (next === undefined) return false
    const { words } = next
    const at = isLast ? 0 : entry * ENTRY
    return isThere || less(words[at] as number, words[at + 1] as number, endHi, endLo) ? this.found(words, at) : false
  }

  private found(words: Uint32Array, at: number): true {
    this.startHi = words[at] as number
    this.startLo = words[at + 1] as number
    this.endHi = words[at + 2] as number
    this.endLo = words[at + 3] as number
    this.keyHi = words[at + 4] as number
    this.keyLo = words[at + 5] as number
    this.tag = words[at + 6] as number
    return true
  }

  /**
   * Moves to the first entry that does not start before this position, or to the end of the chunk where it belongs.
   * @returns whether an entry starts there
   */
  private seek(hi: number, lo: number): boolean {
    // An interval that overlaps nothing is usually added right after the search.
    if (this.chunk >= 0 && hi === this.soughtHi && lo === this.soughtLo) return this.isThere
    const { chunks, bounds } = this
    let low = 0
    let high = chunks.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (less(hi, lo, bounds[2 * middle] as number, bounds[2 * middle + 1] as number)) high = middle - 1
      else low = middle
    }
    const { words, count } = chunks[low] as Chunk
    let first = 0
    let last = count
    while (first < last) {
      const middle = (first + last) >>> 1
      if (less(words[middle * ENTRY] as number, words[middle * ENTRY + 1] as number, hi, lo)) first = middle + 1
      else last = middle
    }
    this.chunk = low
    this.entry = first
    this.soughtHi = hi
    this.soughtLo = lo
    this.isThere = first < count && words[first * ENTRY] === hi && words[first * ENTRY + 1] === lo
    return this.isThere
  }

  private split(index: number): void {
    const chunk = this.chunks[index] as Chunk
    const upper = newChunk()
    const half = chunk.count >>> 1
    upper.words.set(chunk.words.subarray(half * ENTRY, chunk.count * ENTRY))
    upper.count = chunk.count - half
    chunk.count = half
    this.chunks.splice(index + 1, 0, upper)
    const { bounds } = this
    const at = 2 * (index + 1)
    if (2 * this.chunks.length > bounds.length) {
      this.bounds = new Uint32Array(2 * bounds.length)
      this.bounds.set(bounds)
    }
    this.bounds.copyWithin(at + 2, at, 2 * this.chunks.length - 2)
    this.bounds.set(upper.words.subarray(0, 2), at)
    this.chunk = -1
  }
}

function newChunk(): Chunk {
  return { words: new Uint32Array((CHUNK + 1) * ENTRY), count: 0 }
}

function less(aHi: number, aLo: number, bHi: number, bLo: number): boolean {
  return aHi < bHi || (aHi === bHi && aLo < bLo)
}
