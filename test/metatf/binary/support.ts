import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TraceEvent } from '../../../lib/event/batch.js'
import {
  binaryDecoder,
  binaryEncoder,
  type BinaryDecodeOptions,
  type BinaryEncodeOptions,
} from '../../../lib/entry/metatf.js'
import { parseDtd, type Dtd } from '../../../lib/metatf/index.js'
import { decodeAll, encodeEvents, type Decoded } from '../../support/drive.js'

/** A DTD of the examples. */
export function exampleDtd(name: string): Dtd {
  return parseDtd(readFileSync(fileURLToPath(new URL(`../../../examples/${name}`, import.meta.url))), name)
}

export const HATF10 = exampleDtd('hatf10.dtd')
export const SPLIT = exampleDtd('hatf10-split.dtd')

/** Bytes from hex digits, with spaces and `// comments` between them. */
export function hex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.replaceAll(/\/\/.*/g, '').replaceAll(/\s/g, ''), 'hex'))
}

/** Decodes a trace without a header (unless it begins with the magic number). */
export function decode(
  dtd: Dtd | string,
  bytes: Uint8Array | string,
  { size, ...options }: BinaryDecodeOptions & { size?: number } = {},
): Decoded {
  const model = typeof dtd === 'string' ? parseDtd(dtd, 'x.dtd') : dtd
  return decodeAll(binaryDecoder(model, options), typeof bytes === 'string' ? hex(bytes) : bytes, size)
}

/** Encodes events, and says what was lost. */
export function encode(
  dtd: Dtd | string,
  events: readonly TraceEvent[],
  options: BinaryEncodeOptions = { header: false },
) {
  const model = typeof dtd === 'string' ? parseDtd(dtd, 'x.dtd') : dtd
  const encoder = binaryEncoder(model, options)
  const bytes = encodeEvents(encoder, events, { format: 'unknown' })
  return { bytes, hex: Buffer.from(bytes).toString('hex'), losses: Object.fromEntries(encoder.losses.counts) }
}
