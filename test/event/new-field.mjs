/** Run by new-field.test.ts on a copy of the package whose model has the further fields `zone` and `pool`. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [root] = process.argv.slice(2)
const load = (path) => import(join(root, 'dist/lib', path))
const { batchesOf } = await load('event/batch.js')
const { gatherRows } = await load('event/gather.js')
const { packColumns, packedLength, viewColumns } = await load('event/pack.js')
const { selectRows } = await load('kernel/select.js')
const { Filter } = await load('transforms/filter.js')
const { Mapper } = await load('transforms/map.js')
const { readParquet } = await load('streams/io/parquet-file.js')
const { FORMATS } = await load('formats/index.js')

const events = Array.from({ length: 5000 }, (_, i) => ({
  kind: i % 3 === 2 ? 'free' : 'alloc',
  address: BigInt(16 * i),
  ...(i % 3 !== 2 && { size: BigInt(i), function: `f${i % 7}` }),
  ...(i % 2 === 0 && { zone: BigInt(i) << 40n }),
  ...(i % 5 === 0 && { pool: `pool ${i % 11}` }),
  ...(i % 7 === 0 && { weight: BigInt(i) }),
}))
const plain = (batches) => batches.flatMap((batch) => [...batch]).map((event) => ({ ...event }))
const drain = (stage, inputs) => {
  const out = []
  const take = () => {
    for (let one = stage.next(); one !== null; one = stage.next()) out.push(one)
  }
  for (const input of inputs) {
    stage.feed(input)
    take()
  }
  stage.end()
  take()
  return out
}
const header = { format: 'made-up' }
const batches = () => batchesOf(events, header)

const lossless = []
for (const entry of FORMATS) {
  const format = await entry.load()
  if (format.readOnly === true) continue
  for (const options of format.name === 'compact' ? [{ level: 1 }, { level: 2 }] : [{}]) {
    const encoder = format.encoder(options)
    const bytes = Buffer.concat(drain(encoder, batches()))
    const { counts } = encoder.losses
    if (format.lossless !== true) {
      assert.deepEqual([counts.get('zone'), counts.get('pool'), counts.get('weight')], [2500, 1000, 715], format.name)
      continue
    }
    lossless.push(format.name)
    assert.equal(counts.size, 0, format.name)
    if (format.fromFile === true) {
      const path = join(root, 'events.parquet')
      writeFileSync(path, bytes)
      const read = []
      for await (const batch of readParquet(path, assert.fail)) read.push(batch)
      assert.deepEqual(plain(read), events, format.name)
    } else assert.deepEqual(plain(drain(format.decoder(), [bytes])), events, format.name)
  }
}

const [first, second] = batches()
const rows = Int32Array.from({ length: 200 }, (_, i) => 4000 - 2 * i)
assert.deepEqual(
  plain([selectRows(first, rows, 200)]),
  [...rows].map((i) => events[i]),
)
assert.deepEqual(plain([gatherRows(header, [second, first], Int32Array.of(1, 0), Int32Array.of(10, 4), 2)]), [
  events[10],
  events[first.count + 4],
])
const packed = new ArrayBuffer(packedLength(second))
packColumns(second, packed, 0)
assert.deepEqual(plain([viewColumns(packed, 0, header, second.strings)]), plain([second]))
const zones = drain(new Filter({ zone: [{ from: 10n << 40n, to: 20n << 40n }] }), batches())
assert.deepEqual(
  plain(zones),
  events.filter(({ zone = 0n }) => zone >= 10n << 40n && zone <= 20n << 40n),
)
const pools = drain(new Filter({ pool: /10$/ }), batches())
assert.deepEqual(
  plain(pools),
  events.filter(({ pool }) => pool === 'pool 10'),
)
const mapped = drain(new Mapper({ drop: ['zone'], set: { pool: 'one' } }), batches())
assert.deepEqual(
  plain(mapped),
  events.map((event) => {
    const { zone, ...rest } = event
    assert.ok(zone === undefined || rest.zone === undefined)
    return { ...rest, pool: 'one' }
  }),
)
const hidden = plain(drain(new Mapper({ anonymize: { key: 'k' } }), batches()))
assert.ok(hidden.every(({ pool = 'pool_' }) => pool.startsWith('pool_')))
process.stdout.write(`${lossless.join(' ')}\n`)
