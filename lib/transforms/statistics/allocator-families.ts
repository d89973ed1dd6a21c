import { APIS } from '../../event/fields.js'
import { FAMILY_BITS } from '../../kernel/layouts/totals.js'
import type { StatisticsKernel } from './kernel.js'
import type { ApiFamily, Mismatch } from './result.js'

const API_FAMILIES: readonly ApiFamily[] = ['malloc', 'new', 'kmalloc', 'kmem_cache', 'pages']
const FAMILY_OF_API: Readonly<Record<(typeof APIS)[number], ApiFamily>> = {
  malloc: 'malloc',
  calloc: 'malloc',
  memalign: 'malloc',
  realloc: 'malloc',
  free: 'malloc',
  new: 'new',
  delete: 'new',
  kmalloc: 'kmalloc',
  kfree: 'kmalloc',
  kmem_cache_alloc: 'kmem_cache',
  kmem_cache_free: 'kmem_cache',
  pages: 'pages',
}

/** Passes the family of each API to the kernel: 1 + its position in `API_FAMILIES`. */
export function setFamilies({ run }: StatisticsKernel): void {
  const families = APIS.map((api) => 1 + API_FAMILIES.indexOf(FAMILY_OF_API[api]))
  new Uint8Array(run.memory.buffer, run.FAMILIES.value, APIS.length).set(families)
}

/** The blocks that one family allocated and another freed, the most frequent first. */
export function mismatchesOf(kernel: StatisticsKernel): Mismatch[] {
  const list: Mismatch[] = []
  kernel.integers(kernel.run.MISMATCHES.value, 4 ** FAMILY_BITS).forEach((count, pair) => {
    if (count === 0n) return
    const family = (number: number) => API_FAMILIES[number - 1]
    list.push({
      allocatedBy: family(pair >> FAMILY_BITS),
      freedBy: family(pair & (2 ** FAMILY_BITS - 1)),
      count: Number(count),
    })
  })
  return list.toSorted((a, b) => b.count - a.count)
}
