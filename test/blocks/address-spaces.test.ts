import { describe, expect, test } from 'vitest'
import { AddressSpaces, MAX_PROCESSES } from '../../lib/blocks/address-spaces.js'
import { LiveSet } from '../../lib/blocks/live-set.js'
import type { TraceEvent } from '../../lib/event/batch.js'
import { HEADER, inBatches } from '../transforms/events.js'

const alloc = (process: number, address: bigint, index?: bigint): TraceEvent => ({
  kind: 'alloc',
  process: BigInt(process),
  address,
  size: 8n,
  ...(index !== undefined && { index }),
})

/** The number of live blocks after events. */
function live(events: readonly TraceEvent[]): number {
  const set = new LiveSet(0)
  let blocks = 0
  for (const batch of inBatches(events, 100, HEADER)) {
    set.follow(batch)
    for (let row = 0; row < batch.count; row++)
      blocks += Number((set.begun[row] as number) > 0) - Number((set.ended[row] as number) > 0)
  }
  return blocks
}

const WIDE = 0x0001_7f00_0000_1000n
/** With a tag in the highest byte. */
const TAGGED = 0x0b00_7f00_0000_1000n
const KERNEL = 0xffff_8880_0000_1000n
const CANNOT = /cannot be told apart/

describe('blocks at one address in several processes', () => {
  test('are different ones, in user space and in the kernel', () => {
    const processes = [1, 2, 3, 70_000]
    for (const address of [0x1000n, 0x7fff_ffff_f000n, KERNEL]) {
      const events = processes.map((process) => alloc(process, address))
      expect(live(events)).toBe(4)
      const frees = processes.map((process): TraceEvent => ({ kind: 'free', process: BigInt(process), address }))
      expect(live([...events, ...frees])).toBe(0)
    }
  })

  test('of more than 48 bits are refused, whichever comes first', () => {
    expect(live([alloc(1, WIDE), alloc(1, 0x1000n)])).toBe(2)
    expect(() => live([alloc(1, WIDE), alloc(2, 0x1000n)])).toThrow(CANNOT)
    expect(() => live([alloc(1, 0x1000n), alloc(2, WIDE)])).toThrow(CANNOT)
    const realloc: TraceEvent = { kind: 'realloc', process: 2n, oldAddress: WIDE, address: 0x1000n, size: 8n }
    expect(() => live([alloc(1, 0x1000n), realloc])).toThrow(CANNOT)
  })

  test('are told apart by process and by tag, as long as there are fewer than 256 processes', () => {
    const processes = Array.from({ length: 256 }, (_, i) => [alloc(i + 1, TAGGED), alloc(i + 1, 0x1000n)]).flat()
    expect(live(processes.slice(0, -2))).toBe(510)
    expect(() => live(processes)).toThrow(CANNOT)
  })

  test('do not matter where blocks have an index', () => {
    expect(live([alloc(1, WIDE, 1n), alloc(2, WIDE, 2n)])).toBe(2)
  })

  test('are refused beyond the number of processes that are told apart', () => {
    const processes = Array.from({ length: MAX_PROCESSES }, (_, i) => alloc(i + 1, 0x1000n))
    expect(live(processes)).toBe(MAX_PROCESSES)
    expect(() => live([...processes, alloc(0, 0x1000n)])).toThrow(CANNOT)
  })

  test('another trace begins without them', () => {
    const spaces = new AddressSpaces()
    const [one, two] = [alloc(1, WIDE), alloc(2, 0x1000n)].map((event) => [...inBatches([event], 1, HEADER)][0]!)
    spaces.of(one!, 0)
    spaces.clear()
    expect(() => spaces.of(two!, 0)).not.toThrow()
  })
})
