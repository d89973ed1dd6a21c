import { Api } from '../../event/fields.js'
import type { CallSource, EventWriter } from '../event-writer.js'
import { NumberList } from '../lists.js'
import type { Random } from '../random.js'

/** The number of live blocks, and the mean of their sizes. */
const BLOCKS = 10_000
const MEAN = 128

/**
 * Sizes and lifetimes that depend on nothing: sizes have an exponential distribution, and each block that is freed is
 * any of the live ones. Wilson, Johnstone, Neely and Boles (1995, section 2.3) explain why no program is like this.
 */
export class RandomCalls implements CallSource {
  private readonly live = new NumberList()
  private readonly blocks: number

  constructor(
    private readonly random: Random,
    private readonly threads: number,
    scale: number,
  ) {
    this.blocks = Math.max(1, Math.round(BLOCKS * scale))
  }

  step(writer: EventWriter): boolean {
    const { random, live } = this
    const thread = 1 + random.below(this.threads)
    if (live.length < this.blocks || random.chance(50)) {
      const size = 1 + Math.floor(-MEAN * Math.log(1 - random.unit()))
      live.push(writer.alloc(thread, Api.malloc, size))
    }
    if (live.length > this.blocks) writer.free(thread, live.take(random.below(live.length)))
    return true
  }
}
