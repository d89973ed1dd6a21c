import type { StringTable } from '../../../lib/event/strings.js'
import { Fault } from './fault.js'
import { MAX_NAME, NAME_ENTRIES } from '../../../lib/formats/mtrc/layout.js'
import { NAME_DEFINES } from './constants.js'

/** A reader's side of one of the two name caches: which name each entry stands for. */
export class ReadNames {
  /**
   * Per entry, the id of its name in the current batch's strings, or -1 where `read` has to find it. Entry 0 is not
   * used.
   */
  readonly ids = new Int32Array(NAME_ENTRIES + 1).fill(-1)
  private readonly names: (Uint8Array | undefined)[] = []

  /** Another batch, with strings of its own, begins. */
  startBatch(): void {
    this.ids.fill(-1)
  }

  /** Another trace begins: no entry has a name. */
  clear(): void {
    this.ids.fill(-1)
    this.names.length = 0
  }

  /**
   * Reads a name whose byte at `pos` is neither 0 nor an entry with an id, and puts its id into `column[i]`.
   * @param end one past the last byte that is there
   * @returns the position after it, or one of `Fault`
   */
  read(bytes: Uint8Array, pos: number, end: number, strings: StringTable, column: Uint32Array, i: number): number {
    const byte = bytes[pos]
    const entry = byte & ~NAME_DEFINES
    if (entry < 1 || entry > NAME_ENTRIES) return Fault.noSuchEntry
    let after = pos + 1
    if (byte >= NAME_DEFINES) {
      const stop = Math.min(end, pos + 1 + MAX_NAME + 1)
      let nul = pos + 1
      while (nul < stop && bytes[nul] !== 0) nul++
      if (nul === stop) return nul - pos - 1 > MAX_NAME ? Fault.nameTooLong : Fault.short
      this.names[entry] = bytes.slice(pos + 1, nul)
      after = nul + 1
    }
    const name = this.names[entry]
    if (name === undefined) return Fault.entryUndefined
    column[i] = this.ids[entry] = strings.intern(name)
    return after
  }
}

/** What `WrittenNames.touch` gives for a name that has no entry. */
export const NOT_CACHED = 0

/**
 * A writer's side of one of the two name caches, with mpatrol's policy: a hit moves the entry to the front; a miss
 * takes the first entry that was never used, else the one used longest ago. Same names in, same bytes out.
 */
export class WrittenNames {
  // Two parallel lists, the most recently used first: the entry, and the id of its name in the current batch's strings.
  private readonly entries = new Uint8Array(NAME_ENTRIES)
  private readonly ids = new Int32Array(NAME_ENTRIES).fill(-1)
  /** The name of each entry, entry 1 first. */
  private readonly names: Uint8Array[] = []

  /** Another batch begins: ids of the one before mean nothing now. */
  startBatch(): void {
    this.ids.fill(-1)
  }

  /** Another trace begins: no entry is used. */
  clear(): void {
    this.ids.fill(-1)
    this.names.length = 0
  }

  /** The entry of a string of the current batch, moved to the front, or `NOT_CACHED`. */
  touch(id: number, strings: StringTable): number {
    const { entries, ids, names } = this
    if (ids[0] === id) return entries[0]
    const used = names.length
    for (let place = 1; place < used; place++) if (ids[place] === id) return this.moveToFront(place)
    const name = strings.view(id)
    for (let place = 0; place < used; place++) {
      if (equal(names[entries[place] - 1], name)) {
        ids[place] = id
        return this.moveToFront(place)
      }
    }
    return NOT_CACHED
  }

  /** Gives a name that has no entry one, at the front. Keeps a copy of the name. */
  define(id: number, name: Uint8Array): number {
    const { entries, ids, names } = this
    const free = names.length < NAME_ENTRIES
    const place = free ? names.length : NAME_ENTRIES - 1
    if (free) entries[place] = place + 1
    ids[place] = id
    names[entries[place] - 1] = name.slice()
    return this.moveToFront(place)
  }

  private moveToFront(place: number): number {
    const { entries, ids } = this
    const entry = entries[place]
    const id = ids[place]
    for (let p = place; p > 0; p--) {
      entries[p] = entries[p - 1]
      ids[p] = ids[p - 1]
    }
    entries[0] = entry
    ids[0] = id
    return entry
  }
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
