import type { EventBatch } from '../event/batch.js'
import { checkNeededOptions, whole, wholeNumber, type OptionNames } from '../event/options.js'
import { showValue } from '../event/message-text.js'
import { EventWriter, type CallSource } from './event-writer.js'
import { LikeCalls } from './like.js'
import { callsOf } from './models/index.js'
import { MODEL_EVENTS, MODELS, MODEL_THREADS, MOST_SCALE, MOST_THREADS, type ModelName } from './models/names.js'
import { Random } from './random.js'
import { checkModel, type TraceModel } from './trace-model.js'

export interface GenerateOptions {
  /** A classic benchmark. */
  readonly model?: ModelName
  /** Instead of a benchmark: the model of a trace, as `traceModel` makes it. */
  readonly like?: TraceModel
  /**
   * The number of events. Default: 1,000,000; of a trace's model as many as the trace had, times the scale. A model is
   * used repeatedly for more.
   */
  readonly events?: number
  /** Multiplies the live set: above 0, at most 1,000,000. Default 1. */
  readonly scale?: number
  /** The same seed gives the same events: a whole number from 0 to 2^53 - 1. Default 1. */
  readonly seed?: number
  /** The number of threads of a benchmark. The default depends on it. */
  readonly threads?: number
  /** Events have times in nanoseconds: on average the trace's, otherwise one every 100 ns. Default false. */
  readonly times?: boolean
}

const OPTIONS: OptionNames<GenerateOptions> = {
  model: MODELS,
  like: true,
  events: wholeNumber(),
  scale: 'number',
  seed: wholeNumber(),
  threads: 'number',
  times: 'boolean',
}

/** The time between two events of a benchmark, in nanoseconds. */
const GAP = 100

/** Makes the batches of a synthetic trace, one at a time: the same options give the same events. */
export class Generator {
  private readonly writer: EventWriter
  private readonly calls: CallSource
  private isOver = false

  /** @throws RangeError for options that are unknown or out of range; TraceError for a model that is none */
  constructor(options: GenerateOptions) {
    checkNeededOptions(options, OPTIONS, 'generate()')
    const { model, like, events, scale = 1, seed = 1, threads, times = false } = options
    if ((model === undefined) === (like === undefined)) throw new RangeError('either model or like is needed')
    const random = new Random(seed)
    if (!(scale > 0 && scale <= MOST_SCALE))
      throw new RangeError(`scale must be above 0 and at most ${MOST_SCALE}, not ${showValue(scale)}`)
    if (model !== undefined) {
      const most = whole('threads', threads ?? MODEL_THREADS[model], 1, MOST_THREADS)
      this.calls = callsOf(model, random, most, scale)
      this.writer = new EventWriter({ events: events ?? MODEL_EVENTS, sites: 0, isTimed: times, isAligned: false })
      this.writer.gap = GAP
      return
    }
    if (threads !== undefined) throw new RangeError('threads is an option of benchmarks: a model has its own')
    const checked = checkModel(like)
    this.calls = new LikeCalls(checked, random, scale, events !== undefined)
    this.writer = new EventWriter({
      events: events ?? Infinity,
      sites: checked.sites,
      isTimed: times,
      isAligned: checked.kinds.alignment.some((alignment) => alignment > 0),
    })
  }

  /** The next batch; null at the end. @throws RangeError when the live blocks do not fit 2^47 bytes */
  next(): EventBatch | null {
    const { writer } = this
    for (let batch = writer.next(); ; batch = writer.next()) {
      if (batch !== null) return batch
      if (this.isOver) return writer.rest()
      if (writer.isDone || !this.calls.step(writer)) this.isOver = true
    }
  }
}
