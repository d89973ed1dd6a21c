import type { TextDecodeOptions } from '../../../lib/event/format.js'
import { ReplayDecoder } from '../../../lib/formats/replay/decode.js'
import { ReplayEncoder } from '../../../lib/formats/replay/encode.js'
import { decodeAll, encodeAll, type Decoded } from '../../support/drive.js'

/** Decodes text in pieces of `size` bytes. */
export function decode(text: string, size?: number, options?: TextDecodeOptions): Decoded & { warnings: string[] } {
  const decoder = new ReplayDecoder(options)
  return { ...decodeAll(decoder, new Uint8Array(Buffer.from(text, 'latin1')), size), warnings: decoder.warnings }
}

/** Decodes text and writes its events again. */
export function rewrite(text: string): string {
  const { batches, error } = decode(text)
  if (error) throw error
  return Buffer.from(encodeAll(new ReplayEncoder(), batches)).toString('latin1')
}
