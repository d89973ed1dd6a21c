import type { EventBatch } from '../../lib/event/batch.js'
import { TraceError } from '../../lib/event/error.js'
import { gatherRows } from '../../lib/event/gather.js'
import { recycle } from '../../lib/event/recycle.js'
import type { Decoder, Encoder, Stage } from '../../lib/event/stage.js'
import { Budget } from './budget.js'
import { Digest } from './digest.js'
import type { Random } from './random.js'
import { spoil } from '../support/spoil.js'

/** What a decoder made of an input. */
export interface Decoded {
  digest: Digest
  warnings: readonly string[]
  /** The batches, unless they were recycled. */
  batches: EventBatch[]
  error: TraceError | undefined
}

/** Decodes bytes in one piece. */
export function decode(decoder: Decoder, bytes: Uint8Array): Decoded {
  const digest = new Digest()
  const batches: EventBatch[] = []
  const error = run(decoder, [bytes], (batch) => {
    digest.add(batch)
    batches.push(batch)
  })
  return { digest, warnings: [...(decoder.warnings ?? [])], batches, error }
}

/**
 * Decodes bytes in random pieces, each of which is overwritten as soon as the decoder may no longer look at it, and
 * recycles each batch, with nonsense in it.
 */
export function decodeInPieces(decoder: Decoder, bytes: Uint8Array, random: Random): Decoded {
  const digest = new Digest()
  const error = run(decoder, pieces(bytes, random), (batch) => {
    digest.add(batch)
    spoil(batch)
    recycle(batch)
  })
  return { digest, warnings: [...(decoder.warnings ?? [])], batches: [], error }
}

function* pieces(bytes: Uint8Array, random: Random): Generator<Uint8Array> {
  const usual = random.oneIn(40) ? 1 : 1 + random.below(bytes.length + 1)
  let before: Uint8Array | undefined
  let last: Uint8Array | undefined
  for (let at = 0; at < bytes.length;) {
    const end = Math.min(bytes.length, at + 1 + random.below(usual))
    before?.fill(0xa5)
    before = last
    last = bytes.slice(at, end)
    yield last
    at = end
  }
}

/** What an encoder made of events. */
export interface Encoded {
  bytes: Uint8Array
  error: TraceError | undefined
}

/** Encodes batches as they are. */
export function encode(encoder: Encoder, batches: readonly EventBatch[]): Encoded {
  const chunks: Uint8Array[] = []
  const error = run(encoder, batches, (chunk) => void chunks.push(new Uint8Array(chunk)))
  return { bytes: join(chunks), error }
}

/**
 * Encodes batches, each of which is recycled with nonsense in it as soon as the encoder is done with it; and so are the
 * chunks that it gives.
 */
export function encodeRecycling(encoder: Encoder, batches: readonly EventBatch[]): Encoded {
  const chunks: Uint8Array[] = []
  const take = (chunk: Uint8Array) => {
    // A Buffer's slice shares its memory.
    chunks.push(new Uint8Array(chunk))
    chunk.fill(0xdb)
    recycle(chunk)
  }
  const error = run(encoder, batches, take, encoder.consumes === true)
  return { bytes: join(chunks), error }
}

/** Runs a transform on batches as they are. */
export function transform(stage: Stage<EventBatch, EventBatch>, batches: readonly EventBatch[]): Decoded {
  const digest = new Digest()
  const out: EventBatch[] = []
  const error = run(stage, batches, (batch) => {
    digest.add(batch)
    out.push(batch)
  })
  return { digest, warnings: [], batches: out, error }
}

/** The same on copies that are cut in other places, and recycled as soon as the stage is done with them. */
export function transformRecycling(
  stage: Stage<EventBatch, EventBatch>,
  batches: readonly EventBatch[],
  random: Random,
): Decoded {
  const digest = new Digest()
  const error = run(stage, recutBatches(batches, random), (batch) => digest.add(batch), stage.consumes === true)
  return { digest, warnings: [], batches: [], error }
}

/**
 * Feeds a stage, and gives what it makes to `take`.
 * @param spoils whether to recycle each batch that was fed, with nonsense in it, when the stage is done with it
 * @throws anything but a TraceError, which is returned
 */
function run<In extends object, Out extends object>(
  stage: Stage<In, Out>,
  inputs: Iterable<In>,
  take: (out: Out) => void,
  spoils = false,
): TraceError | undefined {
  const budget = new Budget()
  const give = (out: Out): void => {
    budget.add(out as unknown as Uint8Array | EventBatch)
    take(out)
  }
  try {
    for (const input of inputs) {
      budget.add(input as unknown as Uint8Array | EventBatch)
      stage.feed(input)
      let isPassedOn = false
      for (let out = stage.next(); out !== null; out = stage.next()) {
        isPassedOn ||= (out as object) === input
        give(out)
      }
      if (spoils && !isPassedOn) {
        spoil(input as unknown as EventBatch)
        recycle(input as unknown as EventBatch)
      }
    }
    stage.end()
    for (let out = stage.next(); out !== null; out = stage.next()) give(out)
  } catch (error) {
    if (!(error instanceof TraceError)) throw error
    budget.check()
    return error
  }
  budget.check()
  return undefined
}

/** Copies of batches with memory of their own, at times cut in two. */
export function recutBatches(batches: readonly EventBatch[], random: Random): EventBatch[] {
  return batches.flatMap((batch) => {
    if (batch.count < 2 || random.oneIn(2)) return [copyOf(batch)]
    const cut = random.below(batch.count)
    return [copyRows(batch, 0, cut), copyRows(batch, cut, batch.count)]
  })
}

/** A copy of a batch with memory of its own. */
export function copyOf(batch: EventBatch): EventBatch {
  return copyRows(batch, 0, batch.count)
}

function copyRows(batch: EventBatch, from: number, to: number): EventBatch {
  const rows = Int32Array.from({ length: to - from }, (_, i) => from + i)
  return gatherRows(batch.header, [batch], new Int32Array(to - from), rows, to - from)
}

function join(chunks: readonly Uint8Array[]): Uint8Array {
  return chunks.length === 1 ? chunks[0] : new Uint8Array(Buffer.concat(chunks))
}
