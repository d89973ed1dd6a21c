// @module-tag slow
import { describe, expect, it } from 'vitest'
import { CHECKED } from '../../lib/kernel/checked.js'
import { KEYS, randomOf } from '../support/model.js'
import { runs } from '../support/runs.js'
import { compileModules } from './modules.js'

const NO_ROOM = 0xffff_ffff

/** For the many comparisons of a loop, in which `expect` takes most of the time. */
function same(found: unknown, expected: unknown, what: string): void {
  if (found !== expected) throw new Error(`${what} is ${found}, not ${expected}`)
}

describe('live/room', async () => {
  const make = await compileModules(`
    import { giveRoom, takeRoom, takeZeros } from './live/room'
    export { giveRoom, takeRoom, takeZeros }`)

  it('gives out rooms that do not overlap, and uses them again', () => {
    for (let seed = 1; seed <= runs(40); seed++) {
      const random = randomOf(seed)
      const parts = make(1 << 26)
      const [take, give] = [parts.call<[number]>('takeRoom'), parts.call<[number, number]>('giveRoom')]
      const rooms: { at: number; log: number }[] = []
      const sizes = new Map<number, number>()
      for (let step = 0; step < 600; step++) {
        if (random(2) === 0 || rooms.length === 0) {
          const log = random(4) === 0 ? 6 + random(15) : random(12)
          const at = take(log) >>> 0
          expect(at % 64).toBe(0)
          expect(at).toBeGreaterThan(0)
          const end = at + 2 ** log
          expect(end).toBeLessThanOrEqual(parts.words.buffer.byteLength)
          for (const room of rooms) same(at >= room.at + 2 ** room.log || end <= room.at, true, 'apart')
          // Whatever is written into a room changes nothing else.
          new Uint8Array(parts.words.buffer, at, 2 ** log).fill(0xee)
          rooms.push({ at, log })
        } else {
          const [room] = rooms.splice(random(rooms.length), 1) as [(typeof rooms)[number]]
          give(room.at, room.log)
        }
      }
      const { byteLength } = parts.words.buffer
      for (const { log } of rooms) sizes.set(log, (sizes.get(log) ?? 0) + 1)
      for (let turn = 0; turn < 3; turn++) {
        for (const room of rooms.splice(0)) give(room.at, room.log)
        for (const [log, n] of [...sizes].toSorted(([a], [b]) => b - a))
          for (let i = 0; i < n; i++) rooms.push({ at: take(log) >>> 0, log })
      }
      expect(parts.words.buffer.byteLength).toBe(byteLength)
    }
  })

  it('gives out zeros, whether the memory is new or was used', () => {
    const random = randomOf(7)
    const parts = make(1 << 26)
    const [give, takeZeros] = [parts.call<[number, number]>('giveRoom'), parts.call<[number]>('takeZeros')]
    const takes = [parts.call<[number]>('takeRoom'), takeZeros]
    const rooms: { at: number; log: number }[] = []
    for (let step = 0; step < 2000; step++) {
      if (random(2) === 0 || rooms.length === 0) {
        const log = 3 + random(14)
        const take = takes[random(2)]!
        const at = take(log) >>> 0
        const bytes = new Uint8Array(parts.words.buffer, at, 2 ** log)
        if (take === takeZeros)
          same(
            bytes.every((byte) => byte === 0),
            true,
            'zeros',
          )
        bytes.fill(0xee)
        rooms.push({ at, log })
      } else {
        const [room] = rooms.splice(random(rooms.length), 1) as [(typeof rooms)[number]]
        give(room.at, room.log)
      }
    }
  })

  it('has none when memory ends, and has one again when one was given back', () => {
    const parts = make(1 << 22)
    const [take, give] = [parts.call<[number]>('takeRoom'), parts.call<[number, number]>('giveRoom')]
    const rooms: number[] = []
    for (let at = take(16); at !== 0; at = take(16)) rooms.push(at)
    expect(rooms.length).toBeGreaterThanOrEqual(CHECKED ? 30 : 60)
    expect([take(16), take(31), take(32)]).toEqual([0, 0, 0])
    give(rooms[3]!, 16)
    expect(take(16)).toBe(rooms[3])
    expect(take(16)).toBe(0)
  })
})

describe('shared/grow', async () => {
  const make = await compileModules(`
    import { giveRoom, takeRoom } from './live/room'
    import { GROWING, GrowingTable } from './shared/grow'
    const table = changetype<GrowingTable>(memory.data(GROWING))
    export { giveRoom, takeRoom }
    export function at(): usize { return table.at }
    export function reserve(bytes: u64): bool { return table.reserve(bytes) }
    export function extend(bytes: u64): bool { return table.extend(bytes) }
    export function restart(log: u32): bool { return table.restart(log) }
    export function drop(): void { table.drop() }`)

  it('keeps what is in a table when it grows, and when there is no memory for that', () => {
    let failures = 0
    for (let seed = 1; seed <= runs(20); seed++) {
      const random = randomOf(seed)
      const parts = make(1 << 21)
      const call = (name: string) => parts.call<(number | bigint)[]>(name)
      // What the table has at least, and the rooms of others.
      let model = new Uint8Array(0)
      const rooms: { at: number; log: number }[] = []
      for (let step = 0; step < 300; step++) {
        const what = random(20)
        if (what < 8) {
          const log = 12 + random(8)
          const at = call('takeRoom')(log) >>> 0
          if (at !== 0) {
            new Uint8Array(parts.words.buffer, at, 2 ** log).fill(0xee)
            rooms.push({ at, log })
          }
        } else if (what < 13 && rooms.length > 0) {
          const [room] = rooms.splice(random(rooms.length), 1) as [(typeof rooms)[number]]
          call('giveRoom')(room.at, room.log)
        } else if (what < 18) {
          const bytes = 2 + random(1 << (8 + random(14)))
          const before = call('at')() >>> 0
          if (call(random(2) === 0 ? 'reserve' : 'extend')(BigInt(bytes)) === 0) {
            failures++
            same(call('at')() >>> 0, before, 'a table without memory for more')
          } else if (bytes > model.length) {
            const now = new Uint8Array(parts.words.buffer, call('at')() >>> 0, bytes)
            now.fill(1 + random(99), model.length)
            const longer = now.slice()
            longer.set(model)
            model = longer
          }
        } else if (what === 18) {
          call('drop')()
          model = new Uint8Array(0)
        } else if (call('restart')(12 + random(4)) === 1) {
          model = new Uint8Array(0)
        }
        const here = call('at')() >>> 0
        if (model.length > 0)
          same(Buffer.compare(new Uint8Array(parts.words.buffer, here, model.length), model), 0, 'what a table has')
      }
    }
    expect(failures).toBeGreaterThan(0)
  })

  it('has zeros where no one wrote, after each growth', () => {
    const parts = make(1 << 24)
    const [take, give] = [parts.call<[number]>('takeRoom'), parts.call<[number, number]>('giveRoom')]
    const rooms = Array.from({ length: 8 }, (_, i) => ({ at: take(12 + i) >>> 0, log: 12 + i }))
    for (const { at, log } of rooms) new Uint8Array(parts.words.buffer, at, 2 ** log).fill(0xee)
    for (const { at, log } of rooms) give(at, log)
    for (let bytes = 100; bytes < 1 << 21; bytes = Math.floor(bytes * 1.7)) {
      expect(parts.call<[bigint]>('reserve')(BigInt(bytes))).toBe(1)
      const at = parts.call<[]>('at')() >>> 0
      same(
        new Uint8Array(parts.words.buffer, at, bytes).every((byte) => byte === 0),
        true,
        'zeros',
      )
    }
  })
})

describe('live/ended', async () => {
  const make = await compileModules(`
    export { seedHashes } from './shared/hash'
    export { clearEnded, isRemembered, remember } from './live/ended'`)

  const follow = (keyOf: (i: number) => bigint, n: number) => {
    const parts = make()
    const [remember, isRemembered] = [parts.call<[bigint]>('remember'), parts.call<[bigint]>('isRemembered')]
    parts.call<[number, number]>('seedHashes')(11, 22)
    for (let turn = 0; turn < 2; turn++) {
      for (let i = 0; i < n; i++) {
        const key = keyOf(i)
        remember(key)
        if (i % 7 === 0) remember(keyOf(i >> 1))
        if (!isRemembered(key) && key !== 0n) throw new Error(`key ${i} was just remembered`)
        if (i % 100_003 !== 0 && i !== n - 1) continue
        // Each seventh key is one that came before, so that the last 200,000 are among the last 262,144.
        for (let k = Math.max(0, i - 200_000); k <= i; k++)
          if (!isRemembered(keyOf(k)) && keyOf(k) !== 0n) throw new Error(`key ${k} of ${i} is forgotten`)
        for (let k = n; k < n + 50; k++) if (isRemembered(keyOf(k))) throw new Error(`key ${k} was never there`)
      }
      expect(isRemembered(0n)).toBe(0)
      parts.call('clearEnded')()
      for (let i = 0; i < n; i += 11) if (isRemembered(keyOf(i))) throw new Error(`key ${i} remains`)
    }
  }

  it.each(Object.entries(KEYS))('remembers the last keys: %s', (_, keyOf) => {
    for (const n of [1, 2047, 2048, 2049, 4097, 10_000]) follow(keyOf, n)
  })
  it.each(Object.entries(KEYS))('remembers the last of many keys: %s', { tags: ['large'] }, (_, keyOf) => {
    follow(keyOf, 1_200_000)
  })

  it('remembers nothing that was not there when memory ends, and again all after that', () => {
    const parts = make(1 << 20)
    const [remember, isRemembered] = [parts.call<[bigint]>('remember'), parts.call<[bigint]>('isRemembered')]
    for (let i = 1; i < 300_000; i++) remember(BigInt(i))
    expect(isRemembered(300_000n)).toBe(0)
    // There may be memory for the keys, but none to find them.
    for (let i = 300_001; i < 301_000; i++) same(isRemembered(BigInt(i)), 0, `key ${i}`)
    parts.call('clearEnded')()
    remember(5n)
    expect([isRemembered(5n), isRemembered(6n)]).toEqual([1, 0])
  })
})

describe('live/records', async () => {
  const make = await compileModules(`export { blockAt, makeBlocks } from './live/records'`)

  it('has 48 bytes for each block, at first zeros, that stay where they are', () => {
    const parts = make()
    const [blockAt, makeBlocks] = [parts.call<[number]>('blockAt'), parts.call<[number]>('makeBlocks')]
    let made = 0
    for (const n of [0, 1, 1364, 1365, 1366, 2730, 100_000]) {
      expect(makeBlocks(n)).toBe(1)
      for (; made <= n; made++) {
        const at = blockAt(made) >>> 0
        for (let word = 0; word < 48; word += 4) {
          if (parts.words.getUint32(at + word, true) !== 0) throw new Error(`block ${made} is not empty`)
          parts.words.setUint32(at + word, made * 64 + word, true)
        }
      }
      for (let i = 0; i < made; i++)
        for (let word = 0; word < 48; word += 4)
          if (parts.words.getUint32((blockAt(i) >>> 0) + word, true) !== i * 64 + word)
            throw new Error(`block ${i} of ${n}`)
    }
    expect(make(1 << 20).call<[number]>('makeBlocks')(1_000_000)).toBe(0)
  })
})

/** Strings of all lengths, many of which differ in one byte or have a common end or beginning. */
const textOf = (i: number): Buffer => {
  const text = Buffer.alloc(i % 67, 'abc')
  const number = Buffer.from(i.toString(36))
  return (i & 1) === 0 ? Buffer.concat([text, number]) : Buffer.concat([number, text])
}

describe('shared/names', async () => {
  const make = await compileModules(`
    export { forgetOthers, intern, nameLength, nameRoom, names, nameStart } from './shared/names'
    export { seedHashes } from './shared/hash'
    export const REFERENCES: usize = memory.data(40000)`)

  it('numbers names as a map does, and keeps those that are referred to', () => {
    for (let seed = 1; seed <= runs(40); seed++) {
      const random = randomOf(seed)
      const parts = make()
      const [intern, nameRoom] = [parts.call<[number, number]>('intern'), parts.call<[number]>('nameRoom')]
      const [start, length] = [parts.call<[number]>('nameStart'), parts.call<[number]>('nameLength')]
      parts.call<[number, number]>('seedHashes')(seed, 0)
      let known = new Map<string, number>()
      const most = [10, 500, 4096][seed % 3] as number
      for (let turn = 0; turn < 4; turn++) {
        while (known.size < most) {
          const text = textOf(random(2 * most))
          const room = nameRoom(text.length) >>> 0
          Buffer.from(parts.words.buffer, room, text.length).set(text)
          const number = intern(room, text.length)
          const key = text.toString()
          same(number, known.get(key) ?? known.size, key)
          known.set(key, number)
        }
        expect(parts.number('names')).toBe(known.size)
        const names = [...known.keys()]
        const check = () => {
          for (const [name, number] of known)
            same(Buffer.from(parts.words.buffer, start(number) >>> 0, length(number)).toString(), name, 'a name')
        }
        check()
        // References: 0, or the number of a name and 1.
        const references = Array.from({ length: 9000 }, () => (random(3) === 0 ? 0 : 1 + random(1 + (most >> 1))))
        const at = parts.number('REFERENCES')
        references.forEach((reference, i) => parts.words.setUint32(at + 4 * i, reference, true))
        parts.call<[number, number]>('forgetOthers')(at, at + 4 * references.length)
        const used = new Set(references)
        const kept = names.filter((_, number) => used.has(number + 1))
        known = new Map(kept.map((name, number) => [name, number]))
        check()
        references.forEach((reference, i) => {
          const now = parts.words.getUint32(at + 4 * i, true)
          same(now, reference === 0 ? 0 : known.get(names[reference - 1]!)! + 1, 'a reference')
        })
      }
    }
  })
})

describe('shared/strings', async () => {
  const make = await compileModules(`
    export { clearStrings, intern, internList, listed, lists, nextList, setSeed, stringBytes, strings, STARTS, STRINGS }
      from './shared/strings'
    export const TEXT: usize = memory.data(70016)`)

  it('numbers strings and lists as maps do, up to its limits', () => {
    const parts = make()
    parts.call<[bigint]>('setSeed')(0x1234_5678_9abc_def1n)
    const [text, intern] = [parts.number('TEXT'), parts.call<[number, number]>('intern')]
    const add = (bytes: Buffer) => {
      Buffer.from(parts.words.buffer, text, bytes.length).set(bytes)
      return intern(text, bytes.length) >>> 0
    }
    const [nextList, internList] = [parts.call('nextList'), parts.call<[number]>('internList')]
    for (let turn = 0; turn < 4; turn++) {
      parts.call('clearStrings')()
      const random = randomOf(turn + 1)
      const known = new Map<string, number>()
      let bytes = 0
      const different = [100, 9000, 40_000, 20_000][turn] as number
      for (let step = 0; step < 60_000; step++) {
        const one = turn === 3 ? Buffer.from(String(random(different))) : textOf(random(different))
        const expected =
          known.get(one.toString()) ?? (known.size === 16_384 || bytes + one.length > 393_216 ? NO_ROOM : known.size)
        same(add(one), expected, one.toString())
        if (expected !== known.size) continue
        known.set(one.toString(), expected)
        bytes += one.length
      }
      expect([parts.number('strings'), parts.number('stringBytes')]).toEqual([known.size, bytes])
      for (const [name, id] of known) {
        const from = parts.words.getUint32(parts.number('STARTS') + 4 * id, true)
        const to = parts.words.getUint32(parts.number('STARTS') + 4 * id + 4, true)
        same(Buffer.from(parts.words.buffer, parts.number('STRINGS') + from, to - from).toString(), name, 'a string')
      }
      const lists = new Map<string, number>()
      let listed = 0
      for (let step = 0; step < 9000 && listed < 65_536 - 32; step++) {
        const ids = Array.from({ length: random(9) }, () => random(1 + (step >> turn)))
        ids.forEach((id, i) => parts.words.setUint32(nextList() + 4 * i, id, true))
        const expected = lists.get(ids.join()) ?? (lists.size === 4096 ? NO_ROOM : lists.size)
        same(internList(ids.length) >>> 0, expected, ids.join())
        if (expected !== lists.size) continue
        lists.set(ids.join(), expected)
        listed += ids.length
      }
      expect([parts.number('lists'), parts.number('listed')]).toEqual([lists.size, listed])
    }
  })
})
