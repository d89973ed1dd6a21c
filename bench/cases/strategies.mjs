// HATF's strategies for the layout of fields: the cost of each for the encoder, and addresses in a separate stream.
import { readFileSync } from 'node:fs'
import * as hatf from '../../dist/lib/entry/hatf.js'
import { batchesOf, bytesOf, countOf, drive, eventsIn, lengthOf, slicesOf } from '../drive.mjs'

/** Each alone, with the other fields as in the preset naive. */
const ALONE = { sizeEncoding: 'size', addressEncoding: 'address', threadEncoding: 'thread' }

/** @param {import('../inputs.mjs').Input} input */
export function tasks({ files }) {
  const batches = batchesOf(hatf.format.decoder(), readFileSync(files.hatf))
  const events = eventsIn(batches)
  const encode = (name, options) => ({
    name: `encode, ${name}`,
    events,
    bytes: bytesOf(hatf.format.encoder(options), batches).length,
    run: () => drive(hatf.format.encoder(options), batches, lengthOf),
  })
  const decode = (name, options) => {
    const bytes = bytesOf(hatf.format.encoder(options), batches)
    const slices = slicesOf(bytes)
    return { name: `decode, ${name}`, events, bytes: bytes.length, run: () => drive(hatf.format.decoder(), slices, countOf) }
  }
  const alone = Object.entries(ALONE).flatMap(([option, field]) =>
    hatf.strategyNames(field)
      .filter((strategy) => strategy !== hatf.PRESETS.naive[field])
      .map((strategy) => encode(`${field} ${strategy}`, { preset: 'naive', [option]: strategy })),
  )
  const splits = { 'best, split': { splitAddr: true }, 'best, split, not compressed': { splitAddr: true, splitLevel: 0 } }
  return [
    encode('naive', { preset: 'naive' }),
    encode('best', { preset: 'best' }),
    ...alone,
    ...Object.entries(splits).map(([name, options]) => encode(name, options)),
    decode('naive', { preset: 'naive' }),
    decode('best', { preset: 'best' }),
    ...Object.entries(splits).map(([name, options]) => decode(name, options)),
  ]
}

/** Pairs of tasks, the second one the yardstick. */
export const ratios = [
  ['encode, best', 'encode, naive'],
  ['decode, best', 'decode, naive'],
]
