// Taligent's heap monitoring text, with a stack crawl of four frames for each allocation.
import { readFileSync } from 'node:fs'
import * as heapmon from '../../dist/lib/entry/heapmon.js'
import * as mtrc from '../../dist/lib/entry/mtrc.js'
import { Mapper } from '../../dist/lib/entry/stages.js'
import { batchesOf, bytesOf, driven } from '../drive.mjs'
import { codecTasks } from './codec.mjs'

/** Callers of the functions that the trace names. */
const CALLERS = 16

/** @param {import('../inputs.mjs').Input} input */
export function tasks({ files }) {
  let time = 0n
  const expression = (event) => {
    const { kind, address, oldAddress, size, thread = 1n, function: name = 'unknown', line = 0 } = event
    const stack = [`${name}(unsigned long)`, `TCaller${line % CALLERS}::Call(const TRequest&)`, 'TServer::Run()', 'main']
    const block = { kind, address, oldAddress, thread, time: time++ }
    return kind === 'free' ? block : { ...block, size, stack }
  }
  const batches = driven(new Mapper({ expression }), batchesOf(mtrc.format.decoder(), readFileSync(files.mtrc)))
  return codecTasks(heapmon.format, bytesOf(heapmon.format.encoder(), batches))
}
