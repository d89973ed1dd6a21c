import { doubleAt, WORD } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { Op, type OrderName } from './layout.js'
import type { OpList } from './op-list.js'

/** The number of operations after which a thread publishes its progress, if there are other threads. */
const PUBLISH_OPS = 64
/** The minimum distance in ns between the times of operations. */
const TIME_STEP = 200_000

/** The schedule of the operations of threads: their epochs, and their times since the first operation. */
export class Schedule {
  /** The number of epochs so far. */
  epoch = 0
  private inEpoch = 0
  private previous: OpList | undefined
  private firstTime = -1
  private lastTime = -1

  /** @param epochEvents the events of an epoch @param hasTimes whether operations have the times of the trace */
  constructor(
    private readonly order: OrderName,
    private readonly epochEvents: number,
    private readonly hasTimes: boolean,
  ) {}

  /** The ns from the first to the last time; null if no event had a time. */
  get duration(): number | null {
    return this.firstTime < 0 ? null : this.lastTime - this.firstTime
  }

  /** Sets the time of the events from this one on. A time that goes back counts as the previous time. */
  noteTime(batch: EventBatch, i: number): void {
    const unit = batch.header.timeUnit === 'us' ? 1000 : 1
    const time = unit * doubleAt(batch.time.words, i)
    if (this.firstTime < 0) this.firstTime = time
    if (time > this.lastTime) this.lastTime = time
  }

  /**
   * Makes room in a list for the operations of an event, in the epoch of the event.
   * @param threads the number of lists; a single list has no epochs @returns the list
   */
  prepare(list: OpList, threads: number): OpList {
    list.reserve()
    if (threads > 1) this.enterEpoch(list)
    if (this.hasTimes && this.lastTime - this.firstTime >= list.timed + TIME_STEP) {
      list.timed = this.lastTime - this.firstTime
      list.add(Op.time, Math.floor(list.timed / WORD), list.timed >>> 0)
    }
    return list
  }

  private enterEpoch(list: OpList): void {
    const { order } = this
    if (order === 'epochs') {
      if (this.epoch === 0 || this.inEpoch === this.epochEvents) {
        this.epoch++
        this.inEpoch = 0
      }
      this.inEpoch++
    } else if (order === 'total' && (this.epoch === 0 || list !== this.previous)) this.epoch++
    this.previous = list
    if (list.epoch !== this.epoch) {
      list.epoch = this.epoch
      list.add(Op.epoch, 0, this.epoch - 1)
      list.published = list.ops
    } else if (list.ops - list.published >= PUBLISH_OPS) {
      list.add(Op.publish, 0, 0)
      list.published = list.ops
    }
  }
}
