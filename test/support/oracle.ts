import { expect } from 'vitest'
import type { EventBatch } from '../../lib/event/batch.js'
import type { Decoder, Encoder } from '../../lib/event/stage.js'
import { decodeAll, drive } from './drive.js'

/**
 * Two decoders of a format read the same bytes in pieces of the same size, and must give the same events, headers and
 * warnings, and fail with the same words. The oracle is plain TypeScript, written for the format before there was a
 * kernel.
 */
export function decodesLikeOracle(decoder: Decoder, oracle: Decoder, bytes: Uint8Array, size?: number): void {
  const is = decodeAll(decoder, bytes, size)
  const should = decodeAll(oracle, bytes, size)
  expect(is.error?.message).toBe(should.error?.message)
  expect(is.events).toEqual(should.events)
  expect(is.headers).toEqual(should.headers)
  expect(decoder.warnings ?? []).toEqual(oracle.warnings ?? [])
}

/** Two encoders must write the same bytes for the same batches, lose the same, and fail with the same words. */
export function encodesLikeOracle(encoder: Encoder, oracle: Encoder, batches: readonly EventBatch[]): void {
  const is = drive(encoder, batches)
  const should = drive(oracle, batches)
  expect(is.error?.message).toBe(should.error?.message)
  expect(Buffer.concat(is.out).equals(Buffer.concat(should.out))).toBe(true)
  expect(encoder.losses.counts).toEqual(oracle.losses.counts)
}
