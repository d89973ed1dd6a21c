import type { Duplex } from 'node:stream'
import { FORMAT } from '../event/format.js'
import { checkOptions, OBJECT, type OptionNames, type ValueCheck } from '../event/options.js'
import type { BatchTransform, Stage } from '../event/stage.js'
import type { EventBatch } from '../event/batch.js'
import { chain } from '../event/chain.js'
import { decodeBytes, type DecodeAnyOptions } from './decode-bytes.js'
import { eventCounter } from './event-counter.js'
import { byteStream } from './generator.js'
import { givesEvents } from './gives-events.js'
import type { EventStream } from './types.js'

export type { DecodeAnyOptions }

const STAGE: ValueCheck = {
  what: 'a stage',
  is: (value) => typeof value === 'object' && value !== null && 'feed' in value,
}

const OPTIONS: OptionNames<DecodeAnyOptions> = {
  recycle: 'boolean',
  through: STAGE,
  format: FORMAT,
  path: 'string',
  decode: OBJECT,
  onFormat: 'function',
  onTruncated: 'function',
}

/**
 * A Transform from the bytes of any format (inflated) to events. Emits `warning` with a text, and `events` with the
 * number of events of each batch.
 * @throws TraceError (as the stream's error) ERR_TRACE_UNKNOWN_FORMAT when the first bytes fit no format
 */
export function decodeAny(options?: DecodeAnyOptions & { through?: BatchTransform }): EventStream<'bytes'>
export function decodeAny(options: DecodeAnyOptions): Duplex
export function decodeAny(options: DecodeAnyOptions = {}): Duplex {
  checkOptions(options, OPTIONS, 'decodeAny')
  const name = 'decodeAny()'
  const own = { ...options }
  const { through, recycle = false } = own
  const all: Duplex = byteStream(name, (source, stream) => {
    const counter = eventCounter(stream, through?.countsInfos)
    const last: Stage<EventBatch, object> = through === undefined ? counter : chain(counter, through, { recycle })
    return decodeBytes(source, own, stream, last)
  })
  // With a stage inside, the results may be anything.
  return through === undefined ? givesEvents(all, name) : all
}
