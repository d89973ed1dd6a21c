import { Api } from '../../event/fields.js'
import type { CallSource, EventWriter } from '../event-writer.js'
import { NumberList } from '../lists.js'
import type { Random } from '../random.js'

/** The blocks of a batch, and the bytes of a batch itself: a pointer to the next one, and one to each block. */
const BATCH = 4096
const BATCH_BYTES = 8 * (1 + BATCH)
const SIZES = [8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048]
/** The number of full batches that may wait for each thread that frees. */
const WAITING = 4

/** A batch of blocks: the last one is the batch itself. */
type Batch = NumberList

/**
 * Threads that allocate and others that free, after xmalloc-test of Lever and Boreham, *malloc() Performance in a
 * Multithreaded Linux Environment* (USENIX 2000): no block is freed by the thread that allocated it.
 */
export class Xmalloc implements CallSource {
  private readonly makers: (Batch | undefined)[]
  private readonly takers: (Batch | undefined)[]
  private readonly queue: Batch[] = []
  private readonly most: number
  /** Blocks are freed once as many batches have waited as may, so that the live set is as large as the scale says. */
  private isFull = false

  constructor(
    private readonly random: Random,
    threads: number,
    scale: number,
  ) {
    const makers = Math.max(1, Math.ceil(threads / 2))
    const takers = Math.max(1, Math.floor(threads / 2))
    this.makers = Array.from({ length: makers }, () => undefined)
    this.takers = Array.from({ length: takers }, () => undefined)
    this.most = Math.max(1, Math.round(WAITING * takers * scale))
  }

  step(writer: EventWriter): boolean {
    const { makers, takers, random } = this
    const who = random.below(makers.length + takers.length)
    if (who < makers.length) this.make(writer, who)
    else this.take(writer, who - makers.length)
    return true
  }

  private make(writer: EventWriter, who: number): void {
    const { makers, queue } = this
    const thread = 1 + who
    let batch = makers[who]
    if (batch === undefined) {
      if (queue.length >= this.most) return
      makers[who] = batch = new NumberList()
      batch.push(writer.alloc(thread, Api.malloc, BATCH_BYTES))
    }
    batch.push(writer.alloc(thread, Api.malloc, SIZES[this.random.below(SIZES.length)]))
    if (batch.length <= BATCH) return
    queue.push(batch)
    makers[who] = undefined
  }

  private take(writer: EventWriter, who: number): void {
    const { takers, queue } = this
    this.isFull ||= queue.length >= this.most
    if (!this.isFull) return
    const batch = (takers[who] ??= queue.shift())
    if (batch === undefined) return
    writer.free(1 + this.makers.length + who, batch.pop() as number)
    if (batch.length === 0) takers[who] = undefined
  }
}
