// @module-tag slow
import { expect, it } from 'vitest'
import * as at from '../../lib/kernel/layouts/timeline.js'
import { FieldBit } from '../../lib/event/fields.js'
import { randomOf } from '../support/model.js'
import { compileModules } from './modules.js'

const MOST = 2000
const ROWS = 4096

const make = await compileModules(`
  export { beginPart, endPart, noteLevel, partEvents, PARTS, parts } from './statistics/timeline'
  export { ALLOCATED, ALLOCATIONS, FREES, LIVE, LIVE_BYTES } from './statistics/totals'
  export { MASK, TIME } from './shared/columns'`)

/** What the statistics say after an event, or between two traces. */
interface State {
  bytes: bigint
  blocks: bigint
  allocations: bigint
  frees: bigint
  allocated: bigint
}

interface Event extends State {
  time: bigint | undefined
}

/** The parts of a timeline, from all levels: of each event, and those before the first event of each piece. */
function model(events: readonly Event[], before: ReadonlyMap<number, State>): { partEvents: number; parts: object[] } {
  let partEvents = 1
  while (Math.ceil(events.length / partEvents) > MOST) partEvents *= 2
  const parts: object[] = []
  for (let from = 0; from < events.length; from += partEvents) {
    const all = events.slice(from, from + partEvents)
    const levels: State[] = [...all]
    for (let i = from; i < from + all.length; i++) {
      const level = before.get(i) ?? (i === from ? events[i - 1] : undefined)
      if (level !== undefined) levels.push(level)
    }
    const [bytes, blocks] = [levels.map((level) => level.bytes), levels.map((level) => level.blocks)]
    const last = all.at(-1) as Event
    const smallest = (list: bigint[]) => list.reduce((a, b) => (b < a ? b : a))
    const largest = (list: bigint[]) => list.reduce((a, b) => (b > a ? b : a))
    parts.push({
      least: smallest(bytes),
      highest: largest(bytes),
      fewest: smallest(blocks),
      mostBlocks: largest(blocks),
      level: last.bytes,
      blocks: last.blocks,
      allocations: last.allocations,
      frees: last.frees,
      allocated: last.allocated,
      time: all.findLast(({ time }) => time !== undefined)?.time,
    })
  }
  return { partEvents, parts }
}

it.each([1, 2, 1999, 2000, 2001, 4000, 4001, 7999, 8001, 100_000, 1_000_003])('%i events', (n) => {
  const random = randomOf(n)
  const parts = make()
  const { words } = parts
  const [begin, note] = [parts.call<[number]>('beginPart'), parts.call('noteLevel')]
  const end = parts.call<[number, number, number]>('endPart')
  const address = Object.fromEntries(
    ['ALLOCATED', 'ALLOCATIONS', 'FREES', 'LIVE', 'LIVE_BYTES', 'MASK', 'TIME', 'PARTS'].map((name) => [
      name,
      parts.number(name),
    ]),
  ) as Record<'ALLOCATED' | 'ALLOCATIONS' | 'FREES' | 'LIVE' | 'LIVE_BYTES' | 'MASK' | 'TIME' | 'PARTS', number>
  const wide = (place: number) => words.getBigUint64(place, true) | (words.getBigUint64(place + 8, true) << 64n)
  const setWide = (place: number, value: bigint) => {
    words.setBigUint64(place, BigInt.asUintN(64, value), true)
    words.setBigUint64(place + 8, value >> 64n, true)
  }
  // Live bytes beyond 64 bits, too.
  const unit = n % 2 === 0 ? 1n : 1n << 62n
  const state: State = { bytes: 0n, blocks: 0n, allocations: 0n, frees: 0n, allocated: 0n }
  const put = () => {
    setWide(address.LIVE_BYTES, state.bytes)
    setWide(address.ALLOCATED, state.allocated)
    words.setBigUint64(address.LIVE, state.blocks, true)
    words.setBigUint64(address.ALLOCATIONS, state.allocations, true)
    words.setBigUint64(address.FREES, state.frees, true)
  }
  const events: Event[] = []
  const before = new Map<number, State>()
  put()
  let rising = true
  while (events.length < n) {
    // A batch; another trace may have begun before it.
    const rows = Math.min(n - events.length, 1 + random(ROWS))
    if (random(10) === 0) {
      state.bytes = state.blocks = 0n
      put()
    }
    const isTimed = random(8) > 0
    const times = Array.from({ length: rows }, () => (random(3) === 0 ? undefined : BigInt(random(2 ** 31))))
    times.forEach((time, row) => {
      words.setUint32(address.MASK + 4 * row, time === undefined ? 0 : FieldBit.time, true)
      words.setBigUint64(address.TIME + 8 * row, time ?? 77n, true)
    })
    for (let row = 0; row < rows;) {
      before.set(events.length, { ...state })
      const accepted = begin(rows - row)
      expect(accepted).toBeGreaterThan(0)
      for (let i = 0; i < accepted; i++) {
        if (random(500) === 0) rising = !rising
        const size = unit * BigInt(random(1000))
        if (rising || random(3) === 0) {
          state.bytes += size
          state.allocated += size
          state.blocks++
          state.allocations++
        } else if (state.blocks > 0n) {
          state.bytes = state.bytes > size ? state.bytes - size : 0n
          state.blocks--
          state.frees++
        }
        put()
        note()
        events.push({ ...state, time: isTimed ? times[row + i] : undefined })
      }
      end(row, row + accepted, isTimed ? 1 : 0)
      row += accepted
    }
  }
  const expected = model(events, before)
  const found = Array.from({ length: parts.number('parts') }, (_, i) => {
    const part = address.PARTS + at.PART_BYTES * i
    const number = (offset: number) => words.getBigUint64(part + offset, true)
    return {
      least: wide(part + at.LEAST),
      highest: wide(part + at.HIGHEST),
      fewest: number(at.FEWEST),
      mostBlocks: number(at.MOST_BLOCKS),
      level: wide(part + at.LEVEL),
      blocks: number(at.BLOCKS),
      allocations: number(at.COUNT),
      frees: number(at.FREED),
      allocated: wide(part + at.BYTES),
      time: number(at.TIMED) === 0n ? undefined : number(at.CLOCK),
    }
  })
  expect({ partEvents: parts.number('partEvents'), parts: found }).toEqual(expected)
})
