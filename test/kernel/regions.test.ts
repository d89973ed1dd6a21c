// @module-tag slow
import { describe, expect, it } from 'vitest'
import { COLUMNS, SPACE_BITS } from '../../lib/kernel/layouts/report.js'
import { randomOf } from '../support/model.js'
import { runs } from '../support/runs.js'
import { compileModules, type Parts } from './modules.js'

const MOST = 1024
const WIDEST = 256n
const LARGEST = 56n
const ROW = 4 * COLUMNS

interface Region {
  live: bigint
  readonly row: Float32Array
}

/** The regions of memory as a plain map, in the order in which they were used first. */
class Model {
  shift = 16n
  lost = 0n
  regions = new Map<bigint, Region>()

  take(space: number, address: bigint, size: bigint, isGain: boolean): void {
    let [at, left] = [address, size]
    while (left > 0n) {
      const within = at % (1n << this.shift)
      if (isGain && ((within >> 1n) + (left >> 1n)) >> (this.shift - 1n) > WIDEST && this.coarsen()) continue
      const room = (1n << this.shift) - within
      const part = left < room ? left : room
      const key = (BigInt(space) << BigInt(SPACE_BITS)) | (at >> this.shift)
      let region = this.regions.get(key)
      if (region === undefined && this.regions.size < MOST)
        this.regions.set(key, (region = { live: 0n, row: new Float32Array(COLUMNS) }))
      if (region === undefined) {
        if (isGain && this.coarsen()) continue
        if (isGain) this.lost += part
      } else region.live = BigInt.asUintN(64, region.live + (isGain ? part : -part))
      at = BigInt.asUintN(64, at + part)
      left -= part
    }
  }

  snapshot(column: number): void {
    for (const { row, live } of this.regions.values()) row[column] = Number(live)
  }

  join(): void {
    for (const { row } of this.regions.values()) {
      for (let column = 0; column < COLUMNS / 2; column++) row[column] = row[2 * column + 1]
      row.fill(0, COLUMNS / 2)
    }
  }

  end(): void {
    for (const region of this.regions.values()) region.live = 0n
  }

  private coarsen(): boolean {
    if (this.shift === LARGEST) return false
    this.shift++
    const before = this.regions
    this.regions = new Map()
    const below = (1n << BigInt(SPACE_BITS)) - 1n
    for (const [key, region] of before) {
      const larger = (key & ~below) | ((key & below) >> 1n)
      const known = this.regions.get(larger)
      if (known === undefined) this.regions.set(larger, region)
      else {
        known.live = BigInt.asUintN(64, known.live + region.live)
        region.row.forEach((value, column) => (known.row[column] = known.row[column] + value))
      }
    }
    return true
  }
}

const make = await compileModules(`
  export { endRegions, joinColumns, lost, makeRegions, matrix, REGION_KEYS, regions, regionShift, snapshot, takeRegions }
    from './report/regions'`)

function compare(parts: Parts, model: Model): void {
  const { words } = parts
  const [keys, matrix] = [parts.number('REGION_KEYS'), parts.number('matrix')]
  const found = Array.from({ length: parts.number('regions') }, (_, i) => words.getBigUint64(keys + 8 * i, true))
  expect({
    shift: BigInt(parts.number('regionShift')),
    lost: BigInt(parts.number('lost')),
    keys: found,
  }).toEqual({ shift: model.shift, lost: model.lost, keys: [...model.regions.keys()] })
  const rows = [...model.regions.values()]
  for (let i = 0; i < MOST; i++) {
    const row = new Float32Array(words.buffer, matrix + ROW * i, COLUMNS)
    const expected = rows[i]?.row
    for (let column = 0; column < COLUMNS; column++)
      if (row[column] !== (expected?.[column] ?? 0))
        throw new Error(`column ${column} of region ${i} is ${row[column]}, not ${expected?.[column] ?? 0}`)
  }
}

/** Blocks of programs, by a random number: their address and their size. */
const PLACES: Readonly<Record<string, (random: (n: number) => number) => [address: bigint, size: bigint]>> = {
  'of one heap': (random) => [0x5555_5555_0000n + 16n * BigInt(random(2 ** 20)), BigInt(1 + random(4096))],
  'in a heap and mappings': (random) => [
    (random(2) === 0 ? 0x5555_0000_0000n : 0x7fff_0000_0000n) + 4096n * BigInt(random(2 ** 16)),
    BigInt(1 + random(2 ** 20)),
  ],
  anywhere: (random) => [(BigInt(random(2 ** 31)) << 33n) | BigInt(random(2 ** 31)), BigInt(random(2 ** 16))],
  'as large as memory': (random) => [BigInt(random(2 ** 31)) << 16n, BigInt(1 + random(1000)) << BigInt(random(44))],
}

describe.each(Object.entries(PLACES))('blocks %s', (_, place) => {
  it('are in regions as a plain map has them', () => {
    for (let turn = 0; turn < runs(60); turn++) {
      const parts = make()
      const [random, model] = [randomOf(turn + 1), new Model()]
      expect(parts.call('makeRegions')()).toBe(1)
      const take = parts.call<[number, bigint, bigint, number]>('takeRegions')
      const live: [space: number, address: bigint, size: bigint][] = []
      let column = 0
      for (let step = 0; step < 400; step++) {
        const isGain = live.length === 0 || random(3) > 0
        const block: [number, bigint, bigint] = isGain
          ? [random(4) === 0 ? random(4095) : 0, ...place(random)]
          : (live.splice(random(live.length), 1)[0] as [number, bigint, bigint])
        if (isGain) live.push(block)
        const [space, address, size] = block
        take(space, BigInt.asIntN(64, address), size, isGain ? 1 : 0)
        model.take(space, address, size, isGain)
        if (random(8) === 0) {
          if (column === COLUMNS) {
            parts.call('joinColumns')()
            model.join()
            column /= 2
          }
          parts.call<[number]>('snapshot')(column)
          model.snapshot(column++)
        }
        if (random(300) === 0) {
          parts.call('endRegions')()
          model.end()
          live.length = 0
        }
      }
      parts.call<[number]>('snapshot')(COLUMNS - 1)
      model.snapshot(COLUMNS - 1)
      compare(parts, model)
      parts.call('joinColumns')()
      model.join()
      compare(parts, model)
    }
  })
})
