// @module-tag slow
import { expect, it } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { ReportCollector } from '../../../lib/transforms/report/collector.js'
import { randomOf } from '../../support/model.js'
import { runs } from '../../support/runs.js'
import { HEADER, inBatches } from '../events.js'
import { expectWhole } from './whole.js'

const MOST = 64
const ROW = 65_536

/** Which processes the map has, and how many blocks it does not have, kept as plain maps. */
class Model {
  readonly live = new Map<number, Map<bigint, number>>()
  readonly bytes = new Map<number, number>()
  readonly highest = new Map<number, number>()
  readonly mapped = new Map<number, number>()
  unmapped = 0

  alloc(process: number, address: bigint, size: number): void {
    const blocks = this.live.get(process) ?? new Map<bigint, number>()
    this.live.set(process, blocks.set(address, size))
    const bytes = (this.bytes.get(process) ?? 0) + size
    this.bytes.set(process, bytes)
    this.highest.set(process, Math.max(bytes, this.highest.get(process) ?? 0))
    const had = this.mapped.get(process)
    if (had !== undefined) {
      this.mapped.set(process, had + 1)
      return
    }
    this.unmapped++
    if (this.mapped.size === MOST) {
      const [smallest] = [...this.mapped.keys()].toSorted((a, b) => this.highest.get(a)! - this.highest.get(b)!)
      if (Math.floor(bytes / 2) <= this.highest.get(smallest!)!) return
      this.unmapped += this.mapped.get(smallest!)!
      this.mapped.delete(smallest!)
    }
    this.mapped.set(process, blocks.size)
    this.unmapped -= blocks.size
  }

  free(process: number, address: bigint): void {
    const blocks = this.live.get(process)!
    this.bytes.set(process, this.bytes.get(process)! - blocks.get(address)!)
    blocks.delete(address)
  }
}

/** Events of 200 processes, each as large as a random power of 4 allows, of blocks in 8 rows of the map. */
function traceOf(seed: number): { events: TraceEvent[]; model: Model } {
  const random = randomOf(seed)
  const model = new Model()
  const events: TraceEvent[] = []
  const scale = Array.from({ length: 200 }, () => 4 ** random(7))
  while (events.length < 6000) {
    // Processes begin one after the other.
    const process = random(Math.min(200, 1 + Math.floor(events.length / 20)))
    const old = [...(model.live.get(process)?.keys() ?? [])]
    if (old.length > 0 && random(3) === 0) {
      const address = old[random(old.length)] as bigint
      model.free(process, address)
      events.push({ kind: 'free', process: BigInt(process), address })
      continue
    }
    const address = BigInt(ROW * (1 + random(8)) + 8192 * random(8))
    if (old.includes(address)) continue
    // Sizes differ, so that two processes are never equally large.
    const size = 1 + (scale[process] as number) + random(64)
    model.alloc(process, address, size)
    events.push({ kind: 'alloc', process: BigInt(process), address, size: BigInt(size) })
  }
  return { events, model }
}

it.each(Array.from({ length: runs(6) }, (_, i) => i + 1))(
  'the map has the processes that a plain model chooses (seed %i)',
  (seed) => {
    const { events, model } = traceOf(seed)
    const collector = new ReportCollector()
    for (const batch of inBatches(events, 1 + 37 * seed, HEADER)) collector.add(batch)
    const data = collector.finish().data()
    expectWhole(data)
    const { map } = data.addresses!
    const found = [...new Set(map.ranges.map(({ process }) => Number(process)))]
    const left = data.omitted.map((sentence) => /^([\d,]+) blocks? (?:is|are) of processes that/.exec(sentence)?.[1])
    expect(left.find(Boolean)?.replaceAll(',', '')).toBe(String(model.unmapped))
    expect(found.length + map.small).toBe(model.mapped.size)
    for (const process of found) expect(model.mapped.has(process), `process ${process}`).toBe(true)
    const largest = Math.max(...model.highest.values())
    for (const process of model.mapped.keys())
      if (model.bytes.get(process)! >= 0.01 * largest) expect(found, `process ${process}`).toContain(process)
    // At the end, the rows of a process have its live bytes.
    for (const process of found) {
      const rows = map.ranges.filter((range) => Number(range.process) === process)
      const cells = rows.flatMap(({ row, rows }) => map.cells.slice(row, row + rows).map((cells) => cells.at(-1)!))
      const live = cells.reduce((sum, cell) => sum + cell, 0) * (Number(map.rowBytes) / 1000)
      const room = cells.length * (Number(map.rowBytes) / 1000)
      expect(Math.abs(live - model.bytes.get(process)!), `process ${process}`).toBeLessThanOrEqual(room)
    }
  },
)
