import { gunzipSync } from 'node:zlib'
import { readFileSync } from 'node:fs'
import { AllocatorReplay, type AllocatorSettings } from '../../lib/allocators/index.js'
import type { EventBatch } from '../../lib/event/batch.js'
import { replay } from '../../lib/formats/replay/index.js'
import { drive, slices } from './drive.js'

/** The events of a trace in memory_replay text, perhaps gzipped. */
export function replayBatches(text: Uint8Array): readonly EventBatch[] {
  const plain = text[0] === 0x1f ? gunzipSync(text) : text
  return drive(replay.decoder(), slices(plain, 65_536)).out
}

/** The same of a file. */
export function replayFile(path: string | URL): readonly EventBatch[] {
  return replayBatches(readFileSync(path))
}

/**
 * Replays a trace through a simulated allocator. @returns how many blocks began, and how many predictions were wrong
 */
export function simulate(
  batches: readonly EventBatch[],
  settings: AllocatorSettings,
): { blocks: number; wrong: number } {
  const simulation = new AllocatorReplay(settings)
  for (const batch of batches) simulation.add(batch)
  return { blocks: simulation.blocks, wrong: simulation.blocks - simulation.predicted }
}
