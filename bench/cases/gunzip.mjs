// Inflating gzip, with every inflater that this machine has.
import { readFileSync, statSync } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { decompress } from '../../dist/lib/entry/index.js'
import { defaultInflater } from '../../dist/lib/entry/stages.js'
import { driveStream, lengthOf, slicesOf } from '../drive.mjs'
import { gunzipProcess, hasGunzip } from '../yardsticks.mjs'

/** @param {import('../inputs.mjs').Input} input */
export function tasks({ files }) {
  const slices = slicesOf(readFileSync(files.gzip))
  const bytes = statSync(files.mtrc).size
  /** @type {Set<import('../../dist/lib/entry/index.js').Inflater>} */
  const inflaters = new Set([defaultInflater(), 'node:zlib'])
  return [
    ...[...inflaters].map((inflater) => ({
      name: `inflate with ${inflater}`,
      events: 0,
      bytes,
      run: () => driveStream(slices, decompress({ inflater }), lengthOf),
    })),
    { name: 'createGunzip of node:zlib', events: 0, bytes, run: () => driveStream(slices, createGunzip(), lengthOf) },
    ...(hasGunzip() ? [{ name: 'gunzip -c', events: 0, bytes, run: () => gunzipProcess(files.gzip) }] : []),
  ]
}

/** Pairs of tasks, the second one the yardstick. */
export const ratios = [
  ['inflate with zlib-sync', 'gunzip -c'],
  ['inflate with node:zlib', 'gunzip -c'],
  ['inflate with zlib-sync', 'createGunzip of node:zlib'],
]
