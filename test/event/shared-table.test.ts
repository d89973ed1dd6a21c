import { expect, test } from 'vitest'
import { EventBatch } from '../../lib/event/batch.js'
import { isWritable } from '../../lib/event/format.js'
import { StringTable } from '../../lib/event/strings.js'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import { drive } from '../support/drive.js'
import { FORMATS } from '../support/formats.js'

/**
 * Two batches, each with an event of its own site; the table of the second is that of the first, or has its strings.
 */
function* batches(isShared: boolean): Generator<EventBatch> {
  const strings = new StringTable()
  for (const name of ['one', 'two', 'three']) {
    const batch = new EventBatch(4, 0, { format: 'unknown' }, isShared ? strings : new StringTable())
    batch.push({
      kind: 'alloc',
      address: BigInt(16 * name.length),
      size: 8n,
      function: name,
      file: `${name}.c`,
      line: 1,
    })
    batch.push({ kind: 'alloc', address: BigInt(1600 * name.length), size: 8n, stack: [name, 'main'] })
    yield batch
  }
}

const statistics = (isShared: boolean) => {
  const collector = new StatisticsCollector()
  for (const batch of batches(isShared)) collector.add(batch)
  return collector.finish()
}

test('sites are right where batches share a table of strings that grows', () => {
  expect(statistics(true)).toEqual(statistics(false))
})

test.each(FORMATS.filter(isWritable).map((format) => [format.name, format] as const))(
  '%s writes the same where batches share a table of strings that grows',
  (_, format) => {
    const bytes = (isShared: boolean) => Buffer.concat(drive(format.encoder(), batches(isShared)).out)
    expect(bytes(true).equals(bytes(false))).toBe(true)
  },
)
