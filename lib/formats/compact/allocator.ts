import type { AllocatorSettings } from '../../allocators/settings.js'
import { detailOf, learns, numberOf } from '../../allocators/settings.js'
import { PTMALLOC } from '../../kernel/layouts/allocators.js'
import type { CompactKernel } from './kernel.js'

/*
 * The settings of the simulated allocator, in a trace section: empty if none is simulated; otherwise its number, the
 * version, the bits of a word, flags (bit 0: learns), and in 4 bytes each the number of cores and the size of a stack
 * or, for jemalloc, the sizes of the recorder's own blocks.
 */
const SETTINGS_BYTES = 12
const FLAG_LEARNS = 1

export function settingsBytes(settings: AllocatorSettings | undefined): Uint8Array {
  if (settings === undefined) return new Uint8Array(0)
  const bytes = new Uint8Array(SETTINGS_BYTES)
  bytes.set([numberOf(settings), settings.version, settings.bits, learns(settings) ? FLAG_LEARNS : 0])
  const view = new DataView(bytes.buffer)
  view.setUint32(4, settings.cores ?? 0, true)
  view.setUint32(8, detailOf(settings), true)
  return bytes
}

/** Begins the simulation that the settings of a trace describe. @returns whether there is such an allocator */
export function simulate({ run }: CompactKernel, settings: Uint8Array): boolean {
  if (settings.length === 0) return true
  const [allocator, version, bits, flags] = settings
  if (settings.length !== SETTINGS_BYTES || flags > (allocator === PTMALLOC ? FLAG_LEARNS : 0)) return false
  const view = new DataView(settings.buffer, settings.byteOffset)
  const cores = view.getUint32(4, true)
  const detail = BigInt(view.getUint32(8, true))
  if (cores >= 2 ** 31) return false
  return Boolean(run.startSimulation(allocator, version, bits, cores, detail, flags !== 0))
}
