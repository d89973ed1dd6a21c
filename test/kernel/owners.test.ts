// @module-tag slow
import { expect, it } from 'vitest'
import * as at from '../../lib/kernel/layouts/owners.js'
import { randomOf } from '../support/model.js'
import { compileModules, type Parts } from './modules.js'

const make = await compileModules(`
  export { gains, loses, makeRows, ownersLeak, settleOwners, siteAt, siteGains, siteLoses, threadAt }
    from './statistics/owners'
  export { leaveMaximum } from './statistics/peak'
  export { allocates, endTotals, frees } from './statistics/totals'`)

/** The figures of a row. */
interface Row {
  allocations: bigint
  bytes: bigint
  live: bigint
  liveBytes: bigint
  peak: bigint
  peakBytes: bigint
  leaks: bigint
  leakBytes: bigint
  most: bigint
  mostBlocks: bigint
  /** Modulo 2^128: the sums of the ends of lifetimes, less those of their beginnings. */
  events: bigint
  time: bigint
}

const emptyRow = (): Row => ({
  allocations: 0n,
  bytes: 0n,
  live: 0n,
  liveBytes: 0n,
  peak: 0n,
  peakBytes: 0n,
  leaks: 0n,
  leakBytes: 0n,
  most: 0n,
  mostBlocks: 0n,
  events: 0n,
  time: 0n,
})

function rowAt(parts: Parts, row: number, isSite: boolean): Row {
  const { words } = parts
  const number = (offset: number) => words.getBigUint64(row + offset, true)
  const wide = (offset: number) => number(offset) | (number(offset + 8) << 64n)
  return {
    allocations: number(at.ALLOCATIONS),
    bytes: wide(at.BYTES),
    live: number(at.LIVE),
    liveBytes: wide(at.LIVE_BYTES),
    peak: number(at.PEAK),
    peakBytes: wide(at.PEAK_BYTES),
    leaks: number(at.LEAKS),
    leakBytes: wide(at.LEAK_BYTES),
    most: isSite ? wide(at.S_MOST) : 0n,
    mostBlocks: isSite ? number(at.S_MOST_BLOCKS) : 0n,
    events: isSite ? wide(at.S_EVENTS) : 0n,
    time: isSite ? wide(at.S_TIME) : 0n,
  }
}

it.each([
  [1, 1, 100],
  [3, 2, 3000],
  [40, 7, 20_000],
  // Tables that grow.
  [5000, 300, 20_000],
])('%i sites and %i threads are as plain sums say, and as they were at the peak', (sites, threads, events) => {
  for (const [turn, unit] of [1n, 1n << 58n].entries()) {
    const parts = make()
    const random = randomOf(sites + turn)
    const call = (name: string) => parts.call<(number | bigint)[]>(name)
    const [siteRows, threadRows] = [Array.from({ length: sites }, emptyRow), Array.from({ length: threads }, emptyRow)]
    const rows = [...siteRows, ...threadRows]
    let made = 0
    let most = 0n
    let all = 0n
    let clock = 0n
    let blocks: { size: bigint; site: number; thread: number }[] = []
    const change = (row: Row, size: bigint, by: 1n | -1n) => {
      row.live += by
      row.liveBytes += by * size
      if (by < 0n) return
      row.allocations++
      row.bytes += size
    }
    const lifetime = (row: Row, event: bigint, by: 1n | -1n) => {
      row.events = BigInt.asUintN(128, row.events + by * event)
      row.time = BigInt.asUintN(128, row.time + by * clock)
    }
    let rising = true
    for (let event = 1n; event <= BigInt(events); event++) {
      if (made < sites && (made === 0 || random(4) === 0 || event > 1000n)) {
        made = Math.min(sites, made * 2 + 1)
        expect(call('makeRows')(made, threads)).toBe(1)
      }
      clock += BigInt(random(100))
      if (random(events / 10) === 0) {
        // Another trace begins.
        call('leaveMaximum')()
        call('ownersLeak')(made, threads, event, clock)
        call('endTotals')()
        for (const [i, row] of rows.entries()) {
          if (i < sites) {
            row.events = BigInt.asUintN(128, row.events + event * row.live)
            row.time = BigInt.asUintN(128, row.time + clock * row.live)
          }
          row.leaks += row.live
          row.leakBytes += row.liveBytes
          row.live = row.liveBytes = 0n
        }
        all = 0n
        blocks = []
      }
      if (random(40) === 0) rising = !rising
      if (blocks.length === 0 || (rising ? random(4) > 0 : random(4) === 0)) {
        const block = { size: unit * BigInt(random(50)), site: random(made), thread: random(threads) }
        blocks.push(block)
        call('allocates')(block.size, event, 0, 0n)
        call('siteGains')(call('siteAt')(block.site), block.size, event, clock)
        call('gains')(call('threadAt')(block.thread), block.size)
        const [site, thread] = [siteRows[block.site], threadRows[block.thread]]
        change(site, block.size, 1n)
        change(thread, block.size, 1n)
        lifetime(site, event, -1n)
        if (site.liveBytes > site.most) {
          site.most = site.liveBytes
          site.mostBlocks = site.live
        }
        all += block.size
        if (all > most) {
          most = all
          for (const row of rows) {
            row.peak = row.live
            row.peakBytes = row.liveBytes
          }
        }
      } else {
        const [block] = blocks.splice(random(blocks.length), 1) as [(typeof blocks)[number]]
        call('frees')(block.size)
        call('siteLoses')(call('siteAt')(block.site), block.size, event, clock)
        call('loses')(call('threadAt')(block.thread), block.size)
        change(siteRows[block.site], block.size, -1n)
        change(threadRows[block.thread], block.size, -1n)
        lifetime(siteRows[block.site], event, 1n)
        all -= block.size
      }
    }
    call('leaveMaximum')()
    call('settleOwners')(made, threads)
    const found = [
      ...siteRows.slice(0, made).map((_, i) => rowAt(parts, call('siteAt')(i), true)),
      ...threadRows.map((_, i) => rowAt(parts, call('threadAt')(i), false)),
    ]
    expect(found).toEqual([
      ...siteRows.slice(0, made),
      ...threadRows.map((row) => ({ ...row, most: 0n, mostBlocks: 0n, events: 0n, time: 0n })),
    ])
  }
})
