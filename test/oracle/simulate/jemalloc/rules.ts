/** Classes of sizes of jemalloc, as lists. */
export const PAGE = 4096

export interface JemallocVersion {
  readonly version: number
  readonly bits: number
}

/** A class whose blocks are regions of a run. */
export interface SmallClass {
  readonly size: number
  readonly pages: number
  readonly regions: number
  /** Where the first region begins in a run. */
  readonly first: number
}

const up = (value: number, to: number) => Math.ceil(value / to) * to

/** Sizes that grow by steps of a quantum, and then by a quarter of the power of two before them. */
function sizesUpTo(most: number, quantum: number): number[] {
  const sizes = [8]
  for (let size = 16; size <= most;) {
    sizes.push(size)
    size += size < 4 * quantum ? quantum : 2 ** Math.floor(Math.log2(size)) / 4
  }
  return sizes
}

/** The bytes of a bitmap for so many regions, with a level above for each that has more than one word. */
function bitmapBytes(regions: number, word: number): number {
  const words = Math.ceil(regions / (8 * word))
  return words * word + (words > 1 ? bitmapBytes(words, word) : 0)
}

function withHeader(size: number, pages: number, bits: number): number {
  const [head, word] = bits === 64 ? [16, 8] : [12, 4]
  for (let regions = 2048; ; regions--)
    if (head + bitmapBytes(regions, word) + regions * size <= pages * PAGE) return regions
}

/** The small classes. */
export function smallClasses({ version, bits }: JemallocVersion): SmallClass[] {
  const sizes = sizesUpTo(version === 3 ? 3584 : 14_336, bits === 64 ? 16 : 8)
  if (version > 3)
    return sizes.map((size) => {
      let pages = 1
      while ((pages * PAGE) % size !== 0) pages++
      return { size, pages, regions: (pages * PAGE) / size, first: 0 }
    })
  let pages = 1
  return sizes.map((size) => {
    for (;;) {
      const bytes = (pages + 1) * PAGE
      const more = withHeader(size, pages + 1, bits)
      const lost = bytes - more * size
      if (61 * 8 * size <= 0x1800 || lost * 4096 <= 61 * bytes || more === 2048) break
      pages++
    }
    const regions = withHeader(size, pages, bits)
    return { size, pages, regions, first: pages * PAGE - regions * size }
  })
}

/** The larger sizes that caches hold. */
export function cachedSizes({ version, bits }: JemallocVersion): number[] {
  if (version === 3) return Array.from({ length: 16 }, (_, i) => (i + 1) * PAGE)
  const most = version === 5 ? 32_768 : 65_536
  return sizesUpTo(most, bits === 64 ? 16 : 8).filter((size) => size > 14_336)
}

/** The pages of a block that is no region, without the one in addition of version 5. */
export function pagesFor(size: number, version: number): number {
  if (version === 3) return Math.max(1, Math.ceil(size / PAGE))
  const bytes = Math.max(size, PAGE)
  const power = 2 ** (Math.ceil(Math.log2(bytes)) - 1)
  return Math.ceil(up(bytes, Math.max(PAGE, power / 4)) / PAGE)
}

/** How many blocks a cache holds of a class. */
export function slotsOf(version: number, regions: number | null): number {
  if (regions === null) return version === 5 ? 20 : 16
  if (2 * regions <= 20) return 20
  return Math.min(2 * regions, version === 5 ? 200 : 8)
}
