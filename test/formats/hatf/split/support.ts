import type { TraceEvent } from '../../../../lib/event/batch.js'
import {
  HatfDecoder,
  Joiner,
  Separator,
  type HatfField,
  type Piece,
  type SplitOptions,
} from '../../../../lib/formats/hatf/index.js'
import { Packer, type PackOptions, splitOptions } from '../../../../lib/formats/hatf/split/pack.js'
import { decodeAll, drive, slices } from '../../../support/drive.js'

export const FIELDS: readonly HatfField[] = ['size', 'address', 'time', 'thread', 'heap', 'attributes']

/** The tracks of a HATF stream, fed in pieces of `size`, each joined, and what went wrong. */
export function separate(bytes: Uint8Array, options?: SplitOptions, size?: number) {
  const { out, error } = drive<Uint8Array, Piece>(new Separator(options), slices(bytes, size))
  const count = 1 + (options?.fields ?? ['address']).length
  const tracks = Array.from(
    { length: count },
    (_, t) => new Uint8Array(Buffer.concat(out.map((piece) => piece.tracks[t]))),
  )
  return { tracks, records: out.reduce((sum, { records }) => sum + records, 0), error }
}

/** The tracks joined, each fed in pieces of `size` as the joiner asks for them. */
export function join(tracks: readonly Uint8Array[], options?: SplitOptions, size?: number) {
  const joiner = new Joiner(options)
  const inputs = tracks.map((bytes) => slices(bytes, size))
  const out: Uint8Array[] = []
  try {
    for (;;) {
      const bytes = joiner.next()
      if (bytes !== null) {
        out.push(bytes)
        continue
      }
      const { wanted } = joiner
      if (wanted < 0) break
      const { done, value } = (inputs[wanted] as Generator<Uint8Array>).next()
      if (done === true) joiner.end(wanted)
      else joiner.feed(wanted, value as Uint8Array)
    }
    return { bytes: new Uint8Array(Buffer.concat(out)), records: joiner.records }
  } catch (error) {
    return { bytes: new Uint8Array(Buffer.concat(out)), records: joiner.records, error: error as Error }
  }
}

/** A HATF stream in the single-file form, in blocks of about `perBlock` bytes or more. */
export function packBytes(bytes: Uint8Array, perBlock: number, options: PackOptions = {}): Uint8Array {
  const separator = new Separator(splitOptions(options))
  const packer = new Packer({ ...options, blockBytes: 1 })
  const out: Uint8Array[] = []
  for (const slice of slices(bytes, perBlock)) {
    separator.feed(slice)
    for (let piece = separator.next(); piece !== null; piece = separator.next()) packer.feed(piece)
    for (let block = packer.next(); block !== null; block = packer.next()) out.push(block)
  }
  packer.end()
  for (let block = packer.next(); block !== null; block = packer.next()) out.push(block)
  return new Uint8Array(Buffer.concat(out))
}

/** What the records of a HATF stream say, unfolded. */
export function eventsOf(bytes: Uint8Array): TraceEvent[] {
  return decodeAll(new HatfDecoder({ fold: false }), bytes).events
}
