import type { Structure } from '../support/model.js'
import type { Parts } from './modules.js'

/** A table from keys to numbers in a kernel. */
interface Table {
  /** Exports what `structure` uses of the modules. */
  source: string
  structure(parts: Parts): Structure
  /** The numbers of keys at which the table grows. */
  growth: readonly number[]
  isUnique?: boolean
  /** Keys that it may have; all by default. */
  keys?: readonly string[]
}

type OfKey = [bigint]
const powers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => 2 ** (from + i))

/** The sizes of rooms that lie between those of a table, as logarithms. */
const LOGS = [22, 20, 18, 16, 12, 6]
/** How many of these there are at a time, at most. */
const MOST_ROOMS = 48
/** How many keys are added before there is another room. */
const STEP = 512

/** What a kernel exports besides for `amongRooms`. */
const ROOMS = `
  import { giveRoom, takeRoom } from './live/room'
  export { giveRoom, takeRoom }`

/** Has other rooms taken and given back while a table grows, and checks that it does not change them. */
function amongRooms(parts: Parts, structure: Structure): Structure {
  const take = parts.call<[number]>('takeRoom')
  const give = parts.call<[number, number]>('giveRoom')
  const rooms: { at: number; log: number; byte: number }[] = []
  let added = 0
  let turn = 0
  let isFilling = false
  const check = (room: (typeof rooms)[number]) => {
    // What is written beyond the end of another room comes first.
    const bytes = Buffer.from(parts.words.buffer, room.at, Math.min(2 ** room.log, 65_536))
    if (!bytes.equals(Buffer.alloc(bytes.length, room.byte)))
      throw new Error(`a room of 2^${room.log} bytes was changed`)
  }
  const change = () => {
    const log = LOGS[turn++ % LOGS.length]
    const at = take(log) >>> 0
    if (at === 0) return
    const byte = 1 + (turn & 0x7f)
    new Uint8Array(parts.words.buffer, at, 2 ** Math.min(log, 16)).fill(byte)
    rooms.push({ at, log, byte })
    if (rooms.length <= MOST_ROOMS) return
    const [room] = rooms.splice((turn * 7) % MOST_ROOMS, 1) as [(typeof rooms)[number]]
    check(room)
    give(room.at, room.log)
  }
  return {
    ...structure,
    check: () => rooms.forEach(check),
    add(key, value) {
      if (++added % STEP === 0) {
        change()
        isFilling = true
      }
      return structure.add(key, value)
    },
    ...(structure.remove && {
      remove(key: bigint) {
        // Room that a table has outgrown is in use again when it is drained.
        if (isFilling) LOGS.forEach(change)
        isFilling = false
        structure.remove?.(key)
      },
    }),
  }
}

/** The numbers of keys at which a table of shared/hash-table.ts grows. */
const GROWTH = [...powers(7, 15), ...powers(14, 19).map((n) => 5 * n)]

/** A table of shared/hash-table.ts. @param extra 16 bytes of a slot after the value */
function hashTable(extra: 0 | 1): Table {
  return {
    source: `
      import { HashTable, TABLE } from './shared/hash-table'
      import { seedHashes } from './shared/hash'
      const table = changetype<HashTable>(memory.data(TABLE))
      table.extra = ${extra}
      export { seedHashes }
      export function clear(): bool {
        return table.restart()
      }
      export function add(key: u64): usize {
        return table.add(key)
      }
      export function slotOf(key: u64): usize {
        return table.slotOf(key)
      }
      export function remove(key: u64): void {
        table.remove(table.slotOf(key))
      }
      export function used(): u32 {
        return table.used
      }${ROOMS}`,
    structure(parts) {
      const [add, slotOf] = [parts.call<OfKey>('add'), parts.call<OfKey>('slotOf')]
      parts.call<[number, number]>('seedHashes')(12_345, 6789)
      return amongRooms(parts, {
        clear: parts.call('clear'),
        add(key, value) {
          const slot = add(key)
          if (slot === 0) return 0
          for (let at = slot + 8; at < slot + 16 * (1 + extra); at += 4) {
            if (parts.words.getUint32(at, true) !== 0) throw new Error('a new slot is not empty')
            parts.words.setUint32(at, value + at - slot, true)
          }
          return value
        },
        get(key) {
          const slot = slotOf(key)
          const value = parts.words.getUint32(slot + 8, true)
          if (value === 0) return 0
          for (let at = slot + 8; at < slot + 16 * (1 + extra); at += 4)
            if (parts.words.getUint32(at, true) !== value + at - slot - 8) return -1
          return value - 8
        },
        remove: parts.call<OfKey>('remove'),
        size: parts.call('used'),
      })
    },
    growth: GROWTH,
  }
}

/** The tables, by their module. */
export const TABLES: Readonly<Record<string, Table>> = {
  'shared/hash-table': hashTable(0),
  'shared/hash-table, with larger slots': hashTable(1),
  'live/set': {
    source: `export { seedHashes } from './shared/hash'
      export { begin, clearSet, finish, live, numberOf } from './live/set'${ROOMS}`,
    structure(parts) {
      const begin = parts.call<[bigint, boolean]>('begin')
      const finish = parts.call<[bigint, boolean]>('finish')
      const numberOf = parts.call<[bigint, boolean]>('numberOf')
      parts.call('seedHashes')(...([12_345, 6789] as never[]))
      return amongRooms(parts, {
        clear: parts.call('clearSet'),
        // An index and an address of the same value are different keys.
        add: (key) => begin(key, (key & 16n) === 0n),
        get: (key) => (numberOf(key, (key & 16n) !== 0n) === 0 ? numberOf(key, (key & 16n) === 0n) : -1),
        remove: (key) => finish(key, (key & 16n) === 0n),
        size: () => parts.number('live'),
      })
    },
    growth: [...powers(8, 14), ...powers(14, 19).map((n) => 5 * n)],
    isUnique: true,
  },
  'shared/table': {
    source: `export { add, clearTable, count, entryAt, find, raiseFloor, remove, seedTable } from './shared/table'`,
    structure(parts) {
      const [add, find] = [parts.call<OfKey>('add'), parts.call<OfKey>('find')]
      const [entryAt, remove] = [parts.call<[number]>('entryAt'), parts.call<[number]>('remove')]
      const clear = parts.call<OfKey>('clearTable')
      const raise = parts.call<[number]>('raiseFloor')
      parts.call<[number]>('seedTable')(98_765)
      return {
        clear: () => clear(4n),
        add(key, value) {
          // What lies below the table may grow at any time.
          if (value === 7777 && raise(4096) === 0) return 0
          const place = add(key)
          if (place === 0) return 0
          parts.words.setUint32(entryAt(place) + 8, value, true)
          parts.words.setUint32(entryAt(place) + 16, value ^ 0xff, true)
          return value
        },
        get(key) {
          const place = find(key)
          if (place === 0) return 0
          const value = parts.words.getUint32(entryAt(place) + 8, true)
          return parts.words.getUint32(entryAt(place) + 16, true) === (value ^ 0xff) ? value : -1
        },
        remove: (key) => remove(find(key)),
        size: () => parts.number('count'),
      }
    },
    growth: [...powers(6, 16), ...powers(15, 19).map((n) => 5 * n)],
  },
  'mtrc/recent': {
    source: `
      import { clearBlocks } from './mtrc/blocks'
      import { clearRecent } from './mtrc/recent'
      export { addIndexed, findBlock, removeBlock } from './mtrc/recent'
      export { seedBlocks } from './mtrc/blocks'
      export function clear(): bool {
        clearRecent()
        return clearBlocks(true)
      }`,
    structure(parts) {
      const [add, find] = [parts.call<OfKey>('addIndexed'), parts.call<OfKey>('findBlock')]
      const remove = parts.call<[number, bigint]>('removeBlock')
      parts.call<[number]>('seedBlocks')(98_765)
      return {
        clear: parts.call('clear'),
        add(key, value) {
          const entry = add(key)
          if (entry !== 0) parts.words.setUint32(entry + 8, value, true)
          return entry === 0 ? 0 : value
        },
        get(key) {
          const entry = find(key)
          return entry === 0 ? 0 : parts.words.getUint32(entry + 8, true)
        },
        remove: (key) => remove(find(key), key),
      }
    },
    growth: powers(13, 22),
  },
  'allocators/identities': {
    source: `export { clearIdentities, numberOf } from './allocators/identities'${ROOMS}`,
    structure(parts) {
      const numberOf = parts.call<OfKey>('numberOf')
      let known = new Map<bigint, number>()
      return amongRooms(parts, {
        clear() {
          parts.call('clearIdentities')()
          known = new Map()
        },
        add(key) {
          const number = numberOf(key) + 1
          if (number !== known.size + 1) return 0
          known.set(key, number)
          return number
        },
        get: (key) => (known.has(key) ? numberOf(key) + 1 : 0),
      })
    },
    // Further threads share the last number.
    growth: GROWTH.filter((n) => n < 1 << 20),
    isUnique: true,
  },
  'allocators/blocks': {
    source: `export { clearBlocks, dropBlock, findBlock, putBlock } from './allocators/blocks'${ROOMS}`,
    structure(parts) {
      const clear = parts.call<OfKey>('clearBlocks')
      const put = parts.call<[bigint, number]>('putBlock')
      return amongRooms(parts, {
        clear: () => clear(16n),
        add: (key, value) => (put(key, value) === 0 ? 0 : value),
        get: parts.call<OfKey>('findBlock'),
        remove: parts.call<OfKey>('dropBlock'),
      })
    },
    growth: powers(9, 22),
    keys: ['addresses', 'random', 'equal low words', 'multiples of 2^22 in both words'],
  },
}
