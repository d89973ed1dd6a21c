/** The choices of each dimension, apart from the number of blocks. */
export const DIMENSIONS = {
  /** In which order blocks are freed. */
  deaths: ['birth', 'reverse', 'random', 'waves', 'site', 'some', 'never'],
  /** The number of threads; 0: events have no thread. */
  threads: [0, 1, 7, 400],
  /** Bytes from one block to the next. */
  gap: [8n, 64n, 4096n, 1n << 40n],
  sizes: ['zero', 'small', 'mixed', 'spread', 'huge'],
  /** The address of the first block: also beyond 32 bits, and where kernels are. */
  base: [0x1_0000n, 0x7f00_0000_0000n, 0xffff_8880_0000_0000n],
  reallocs: ['none', 'grow', 'shrink', 'move', 'fail'],
  /** Whether each address held another block just before. */
  reused: [false, true],
  indexed: [false, true],
  timed: [false, true],
  processes: [0, 1, 3],
  sites: [0, 1, 1000, 100_000],
  /** The frames of each site's stack; 0: a site is a call site. */
  frames: [0, 2, 60, 10_000],
  /** How often the program runs: each run is a trace of its own in the stream. The third of three is empty. */
  traces: [1, 2, 3],
  /** Calls of several functions, with the numbers that they take, the CPU, the bytes taken and those in memory. */
  detailed: [false, true],
  /** Frees of nothing, of unknown blocks and of freed ones, failed calls, and addresses that are taken twice. */
  faulty: [false, true],
  /** Whether reallocs tell what they did. */
  outcomes: [false, true],
  /** Whether events have the resident set of the process now and then. */
  resident: [false, true],
  /** Whether processes end, after which others have their numbers. */
  ends: [false, true],
} as const

type Dimensions = typeof DIMENSIONS
/** A shape of a program's heap. */
export type Shape = { readonly [Name in keyof Dimensions]: Dimensions[Name][number] } & { readonly blocks: number }

/** A generator of numbers below `n`, always the same for a seed. */
export function seeded(seed: number): (n: number) => number {
  let state = seed >>> 0
  return (n) => {
    state = (state + 0x6d2b_79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * n)
  }
}

/**
 * One shape for each number of blocks; choices follow from the seed. Each choice of a dimension comes equally often.
 */
export function shapesOf(numbers: readonly number[], seed: number): Shape[] {
  const random = seeded(seed)
  const columns = Object.entries(DIMENSIONS).map(([name, choices]) => {
    const column = numbers.map((_, i) => choices[i % choices.length])
    for (let i = column.length - 1; i > 0; i--) {
      const j = random(i + 1)
      ;[column[i], column[j]] = [column[j], column[i]]
    }
    return [name, column] as const
  })
  return numbers.map(
    (blocks, i) => ({ blocks, ...Object.fromEntries(columns.map(([name, column]) => [name, column[i]])) }) as Shape,
  )
}
