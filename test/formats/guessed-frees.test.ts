import { expect, test } from 'vitest'
import { batchesOf, type TraceEvent } from '../../lib/event/batch.js'
import { isWritable } from '../../lib/event/format.js'
import { hasInventedAddresses, type TraceHeader } from '../../lib/event/header.js'
import { decodeAll, encodeAll } from '../support/drive.js'
import { FORMATS } from '../support/formats.js'

const HEADER: TraceHeader = { format: 'heaptrack' }
const EVENTS: TraceEvent[] = [{ kind: 'alloc', address: 16n, size: 8n }]
const REASON = 'that freed blocks are guessed'

test.each(FORMATS.filter(isWritable))('$name keeps that freed blocks are guessed, or counts it once', (format) => {
  const encoder = format.encoder()
  const bytes = encodeAll(encoder, [...batchesOf(EVENTS, HEADER), ...batchesOf(EVENTS, HEADER)])
  const { headers } = decodeAll(format.decoder(), bytes)
  expect(headers).not.toEqual([])
  const losses = headers.every(hasInventedAddresses) ? 0 : 1
  expect(encoder.losses.counts.get(REASON) ?? 0).toBe(losses)
})
