import { expect } from 'vitest'
import type { EventBatch } from '../../../lib/event/batch.js'
import type { Decoder, Encoder } from '../../../lib/event/stage.js'
import * as runtime from '../../../lib/entry/metatf-runtime.js'
import {
  asciiDecoder,
  asciiEncoder,
  binaryDecoder,
  binaryEncoder,
  compileDtd,
  type Dtd,
} from '../../../lib/entry/metatf.js'
import type { BinaryDecodeOptions, BinaryEncodeOptions } from '../../../lib/entry/metatf.js'
import { drive, slices } from '../../support/drive.js'

/** The pure pair of a DTD. */
export interface Pair {
  decoder(options?: BinaryDecodeOptions): Decoder
  encoder(options?: BinaryEncodeOptions): Encoder
}

/**
 * The pair of the module that is printed for a DTD: in JavaScript, changed or not, with the modules under test in place
 * of what it imports.
 */
export function compiled(dtd: Dtd, change = (source: string) => source): Pair {
  const source = change(compileDtd(dtd, { language: 'js' }))
    .replaceAll(
      /^import \{([^}]*)\} from '(\S+)'$/gm,
      (_, names: string, from: string) => `const {${names}} = modules['${from}']`,
    )
    .replaceAll(/^export /gm, '')
  // oxlint-disable-next-line no-new-func
  const module = new Function('modules', `'use strict'\n${source}\nreturn { decoder, encoder }`) as (
    modules: object,
  ) => Pair
  return module({ 'heapflow/metatf/runtime': runtime })
}

/** The pair whose code is generated when it is used. */
export function generated(dtd: Dtd): Pair {
  if (dtd.version === '1.2')
    return {
      decoder: () => asciiDecoder(dtd),
      encoder: ({ strict } = {}) => asciiEncoder(dtd, { strict: strict === true }),
    }
  return { decoder: (options) => binaryDecoder(dtd, options), encoder: (options) => binaryEncoder(dtd, options) }
}

/** All that can be seen of how bytes are read: the events, where batches end, their headers, and the error. */
export function reading(decoder: Decoder, bytes: Uint8Array, size?: number) {
  const { out, error } = drive(decoder, slices(bytes, size))
  const batches = out.map((batch) => ({ header: batch.header, events: [...batch] }))
  return { batches, error: error && { ...error, message: error.message }, warnings: decoder.warnings }
}

/** All that can be seen of how events are written: the bytes, the losses and the error. */
export function writing(encoder: Encoder, batches: readonly EventBatch[]) {
  const { out, error } = drive(encoder, batches)
  return {
    bytes: Buffer.concat(out).toString('hex'),
    losses: Object.fromEntries(encoder.losses.counts),
    error: error?.message,
  }
}

/** Expects both pairs to read bytes alike, in pieces of several sizes. */
export function expectSameReading(
  pairs: readonly [Pair, Pair],
  bytes: Uint8Array,
  sizes: readonly (number | undefined)[],
  options?: BinaryDecodeOptions,
) {
  const [one, other] = pairs
  for (const size of sizes)
    expect(reading(other.decoder(options), bytes, size)).toEqual(reading(one.decoder(options), bytes, size))
}
