/** The number of consecutive event numbers in a group: within it, 16 bits identify an event. */
const GROUP = 65_536
/** A group with more events than this has a bit for each of its numbers, which takes as much memory. */
const MAX_LISTED = GROUP / 16

/** The events of one group that are in the set: a list of some, or a bit for every number. */
interface Group {
  list: Uint16Array
  listed: number
  bits: Uint8Array | undefined
}

/**
 * A set of event numbers, which may be added in any order. Sparse parts take 2 bytes for each number, dense parts a bit
 * for each event of the trace.
 */
export class EventSet {
  private readonly groups = new Map<number, Group>()

  /** Adds an event number that is not in the set. */
  add(number: number): void {
    const key = Math.floor(number / GROUP)
    let group = this.groups.get(key)
    if (group === undefined) this.groups.set(key, (group = { list: new Uint16Array(4), listed: 0, bits: undefined }))
    const low = number % GROUP
    if (group.bits === undefined) addToList(group, low)
    else setBit(group.bits, low)
  }

  /** Sets `marks[i]` to 1 if event number `first + i` is in the set, for `count` events. */
  mark(marks: Uint32Array, first: number, count: number): void {
    const end = first + count
    for (let key = Math.floor(first / GROUP); key * GROUP < end; key++) {
      const group = this.groups.get(key)
      if (group === undefined) continue
      const start = key * GROUP
      const from = Math.max(0, first - start)
      const to = Math.min(GROUP, end - start)
      const shift = start - first
      const { bits, list, listed } = group
      if (bits === undefined) {
        for (let j = 0; j < listed; j++) {
          const low = list[j]
          if (low >= from && low < to) marks[low + shift] = 1
        }
      } else {
        for (let low = from; low < to; low++) marks[low + shift] = (bits[low >>> 3] >>> (low & 7)) & 1
      }
    }
  }
}

function addToList(group: Group, low: number): void {
  if (group.listed === MAX_LISTED) {
    const bits = new Uint8Array(GROUP / 8)
    for (const one of group.list) setBit(bits, one)
    setBit(bits, low)
    group.bits = bits
    group.list = new Uint16Array(0)
    group.listed = 0
    return
  }
  if (group.listed === group.list.length) {
    const longer = new Uint16Array(2 * group.listed)
    longer.set(group.list)
    group.list = longer
  }
  group.list[group.listed++] = low
}

function setBit(bits: Uint8Array, low: number): void {
  bits[low >>> 3] = bits[low >>> 3] | (1 << (low & 7))
}
