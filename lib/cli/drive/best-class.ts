import { classesOf } from '../../transforms/simulate/classes.js'
import type { SizeCount } from '../../transforms/drive/peak-sizes.js'

/** glibc's malloc with words of 64 bits: its header, and the sizes that its blocks have. */
const GLIBC = { header: 8, multiple: 16, least: 32 }
/** The allocators whose classes are known by their names. */
const WITH_CLASSES = ['jemalloc', 'mimalloc', 'tcmalloc'] as const

/** A size class that an allocator does not have, and the bytes that it would save. */
export interface BestClass extends SizeCount {
  /** The bytes that the allocator takes for each of the blocks, with its header. */
  readonly granted: number
  readonly saved: number
}

/**
 * The size class, with blocks of just that size and no headers, that would save most bytes.
 * @param name of the allocator
 * @param sizes the live blocks by size
 * @returns undefined if none would save any, or the allocator's classes are not known
 */
export function bestClass(name: string, sizes: readonly SizeCount[]): BestClass | undefined {
  const granted = granting(name)
  if (granted === undefined) return undefined
  return sizes
    .map(({ size, blocks }) => ({ size, blocks, granted: granted(size), saved: blocks * (granted(size) - size) }))
    .filter(({ saved, size }) => saved > 0 && size > 0)
    .toSorted((a, b) => b.saved - a.saved)[0]
}

/** The function that gives the bytes that an allocator takes for a size. */
function granting(name: string): ((size: number) => number) | undefined {
  if (name === 'glibc')
    return (size) => Math.max(GLIBC.least, Math.ceil((size + GLIBC.header) / GLIBC.multiple) * GLIBC.multiple)
  const rule = WITH_CLASSES.find((known) => known === name)
  if (rule === undefined) return undefined
  const classes = classesOf(rule)
  return (size) => classes.find((granted) => granted >= size) ?? size
}
