/** Policies of allocation as arrays: the addresses that kernel/simulate.ts has to give. */
import type { SimulateSettings } from '../../../lib/transforms/simulate/policies.js'
import { BuddyModel, type BuddyName } from './buddies.js'
import { BASE, FitModel } from './fits.js'
import { SpanModel } from './spans.js'

/** One heap, and its live blocks by the caller's number. */
export interface HeapModel {
  readonly used: number
  allocate(size: number, alignment: number): number
  free(address: number): void
  /** @returns whether the block stays */
  resize(address: number, size: number): boolean
}

const up = (value: number, to: number) => Math.ceil(value / to) * to

/** An empty heap. */
export function modelOf(settings: SimulateSettings): HeapModel {
  const { policy, header, alignment: granule, smallest } = settings
  const gross = (size: number) => Math.max(smallest, up(size + header, granule))
  const isWide = (alignment: number) => alignment > granule && Number.isInteger(Math.log2(alignment))
  const addressOf = (at: number, alignment: number) => BASE + up(at + header, isWide(alignment) ? alignment : 1)
  if (policy.endsWith('buddy')) {
    const heap = new BuddyModel(policy.replace('-buddy', '') as BuddyName, smallest, settings.page)
    const pad = up(header, granule) - header
    const blocks = new Map<number, { at: number; size: number }>()
    const bytesOf = (size: number) => Math.max(smallest, size + header)
    return {
      get used() {
        return heap.used
      },
      allocate(size, alignment) {
        const bytes = bytesOf(size)
        const wide = isWide(alignment)
        const needed = !wide ? bytes : header === 0 ? Math.max(bytes, alignment) : bytes + alignment
        const block = heap.classOf(needed, wide)
        const at = heap.allocate(block)
        const address = addressOf(at + pad, alignment)
        blocks.set(address, { at, size: block })
        return address
      },
      free(address) {
        const { at, size } = blocks.get(address) as { at: number; size: number }
        blocks.delete(address)
        heap.free(at, size)
      },
      resize(address, size) {
        const block = blocks.get(address) as { at: number; size: number }
        const lead = address - BASE - block.at - pad
        return heap.classOf(Math.max(smallest, size + lead)) === block.size
      },
    }
  }
  if (policy === 'bump') {
    let top = up(header, granule) - header
    const sizes = new Map<number, number>()
    return {
      get used() {
        return up(top, settings.page)
      },
      allocate(size, alignment) {
        if (isWide(alignment)) top = up(top + header, alignment) - header
        const address = BASE + top + header
        top += gross(size)
        sizes.set(address, gross(size))
        return address
      },
      free: (address) => void sizes.delete(address),
      resize: (address, size) => gross(size) <= (sizes.get(address) as number),
    }
  }
  if (policy === 'segregated') {
    const heap = new SpanModel(settings.classes as readonly number[], settings.page)
    return {
      get used() {
        return heap.used
      },
      allocate: (size, alignment) => BASE + heap.allocate(gross(size), isWide(alignment) ? alignment : 0),
      free: (address) => heap.free(address - BASE),
      resize: (address, size) => heap.resize(address - BASE, gross(size)),
    }
  }
  const choice = policy === 'next-fit' ? 'next' : policy === 'best-fit' ? 'best' : (settings.list ?? 'address')
  const isDeferred = settings.coalescing === 'deferred'
  const { page, trim } = settings
  const heap = new FitModel({ choice, isDeferred, header, alignment: granule, smallest, page, trim: trim ?? Infinity })
  return {
    get used() {
      return heap.used
    },
    allocate: (size, alignment) => BASE + heap.allocate(gross(size), isWide(alignment) ? alignment : 0) + header,
    free: (address) => heap.free(address - BASE - header),
    resize: (address, size) => heap.resize(address - BASE - header, gross(size)),
  }
}
