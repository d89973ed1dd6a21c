import type { CLASS_RULES } from './policies.js'

/** The classes of jemalloc 5 for 64 bits end here: larger blocks have pages of their own. */
const JEMALLOC_LARGEST = 14_336
/** The largest classes of mimalloc 2 for small and medium pages. */
const MIMALLOC_LARGEST = 131_072
/** The largest class of a rule of powers of two. */
const POWERS_LARGEST = 32_768
/** gperftools 2.10 on x86-64: the largest class, its pages, and the blocks that move between its lists at a time. */
const TCMALLOC_LARGEST = 262_144
const TCMALLOC_PAGE = 8192
const TCMALLOC_MOVED = 65_536

/** The sizes of the classes of a rule, in bytes, in increasing order. */
export function classesOf(rule: (typeof CLASS_RULES)[number]): readonly number[] {
  switch (rule) {
    case 'power-of-two':
      return doublings(16, POWERS_LARGEST, 1)
    case 'two-per-power':
      return doublings(16, POWERS_LARGEST, 2)
    case 'jemalloc':
      return quarters(JEMALLOC_LARGEST)
    case 'mimalloc':
      return quarters(MIMALLOC_LARGEST)
    case 'tcmalloc':
      return tcmalloc()
  }
}

/** Powers of two; with two classes for each, also three halves of them. */
function doublings(from: number, to: number, each: 1 | 2): number[] {
  const sizes = []
  for (let size = from; size <= to; size *= 2) {
    sizes.push(size)
    if (each === 2 && size > from && 1.5 * size <= to) sizes.push(1.5 * size)
  }
  return sizes
}

/** Multiples of 16 up to 128, then four classes for each doubling. */
function quarters(to: number): number[] {
  const sizes = []
  for (let size = 16, step = 16; size <= to; size += step) {
    sizes.push(size)
    if (size >= 128 && Number.isInteger(Math.log2(size))) step = size / 4
  }
  return sizes
}

/** The algorithm of `SizeMap::Init` in gperftools: classes with the same numbers of pages and of blocks are merged. */
function tcmalloc(): number[] {
  const classes: { size: number; pages: number }[] = []
  for (let size = 16, step = 16; size <= TCMALLOC_LARGEST; size += step) {
    const moved = Math.min(32, Math.max(2, Math.floor(TCMALLOC_MOVED / size)))
    let bytes = 0
    do {
      bytes += TCMALLOC_PAGE
      while (bytes % size > bytes / 8) bytes += TCMALLOC_PAGE
    } while (Math.floor(bytes / size) < Math.floor(moved / 4))
    const pages = bytes / TCMALLOC_PAGE
    const last = classes.at(-1)
    if (last?.pages === pages && Math.floor(bytes / last.size) === Math.floor(bytes / size)) last.size = size
    else classes.push({ size, pages })
    step = size < 128 ? 16 : Math.min(2 ** Math.floor(Math.log2(size)) / 8, TCMALLOC_PAGE)
  }
  return classes.map(({ size }) => size)
}
