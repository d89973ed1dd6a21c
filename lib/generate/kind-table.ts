import { WORD } from '../bytes/u64.js'
import { codeOf, leastOf, widthOf } from './codes.js'
import { RowTable, WORDS } from './row-table.js'
import type { ModelKinds } from './trace-model.js'

/** The number of kinds that are exact; of further ones, only the range of the size is known. */
const EXACT = 65_536
/** The ranges of sizes: 2^4 to a doubling. */
const SIZE_BITS = 4
/** The positions of the thread and of the site in the first word, and of the alignment in the third one. */
const THREAD = 17
const SITE = 4
const ALIGNMENT = 16
/** The second, third and fourth word of a kind that has only a range of sizes. */
const ROUGH = 1

/** Numbers the kinds of allocation. */
export class KindTable {
  private readonly table = new RowTable()

  /**
   * The number of a kind.
   * @param api an index into `APIS`, or `RESIZE`, or -1
   * @param lo the words of the size, which is below 2^46
   * @param alignment a power of two up to 2^30, or 0
   */
  kind(thread: number, site: number, api: number, lo: number, hi: number, alignment: number): number {
    const first = (thread << THREAD) | (site << SITE) | (api + 1)
    const third = hi | ((alignment === 0 ? 0 : 32 - Math.clz32(alignment)) << ALIGNMENT)
    const kind = this.table.row(first, lo | 0, third, 0, EXACT)
    return kind >= 0 ? kind : this.rough(hi * WORD + (lo >>> 0))
  }

  /** The number of the kind that has only a range of sizes. */
  rough(size: number): number {
    return this.table.row(codeOf(size, SIZE_BITS), 0, 0, ROUGH, Infinity)
  }

  /** The number of the kind that has only the range of a kind's size. */
  roughened(kind: number): number {
    const { words } = this.table
    if (words[WORDS * kind + 3] === ROUGH) return kind
    return this.rough(this.size(kind))
  }

  /** The thread of a kind, which is not known where there is only a range of sizes: 1 then. */
  thread(kind: number): number {
    const { words } = this.table
    return words[WORDS * kind + 3] === ROUGH ? 1 : words[WORDS * kind] >>> THREAD
  }

  /** The columns of some kinds. @param used their numbers */
  result(used: readonly number[]): ModelKinds {
    const { words } = this.table
    const thread: number[] = []
    const site: number[] = []
    const api: number[] = []
    const size: number[] = []
    const sizes: number[] = []
    const alignment: number[] = []
    for (const kind of used) {
      const [first, , third, form] = words.subarray(WORDS * kind, WORDS * (kind + 1)) as unknown as number[]
      const code = first
      const isRough = form === ROUGH
      thread.push(isRough ? 1 : code >>> THREAD)
      site.push(isRough ? 0 : (code >>> SITE) & ((1 << (THREAD - SITE)) - 1))
      api.push(isRough ? -1 : (code & ((1 << SITE) - 1)) - 1)
      size.push(isRough ? leastOf(code, SIZE_BITS) : this.size(kind))
      sizes.push(isRough ? widthOf(code, SIZE_BITS) : 1)
      const log = third >>> ALIGNMENT
      alignment.push(log === 0 ? 0 : 2 ** (log - 1))
    }
    return { thread, site, api, size, sizes, alignment }
  }

  private size(kind: number): number {
    const { words } = this.table
    const low = words[WORDS * kind + 1]
    const high = words[WORDS * kind + 2]
    return (high & ((1 << ALIGNMENT) - 1)) * WORD + (low >>> 0)
  }
}
