import { checkOptions, type NoOptions } from '../event/options.js'
import { Generator, type GenerateOptions } from '../generate/generator.js'
import { TraceSurvey } from '../generate/survey.js'
import type { TraceModel } from '../generate/trace-model.js'
import { givesEvents } from './gives-events.js'
import { CollectingSink, type ResultSink } from './result-sink.js'
import { sourceStream } from './source-stream.js'
import type { EventReadable } from './types.js'

/**
 * A Readable of batches of a synthetic trace: a classic benchmark of allocators, or the distributions of a trace. The
 * same options give the same events. Memory grows with the live blocks.
 *
 * @example
 * await pipeline(generate({ model: 'larson', events: 1e6 }), mtrc.encode(), createWriteStream('larson.mtrc'))
 *
 * @example
 * const model = traceModel()
 * await pipeline(createReadStream('app.mtrc'), mtrc.decode(), model)
 * await pipeline(generate({ like: await model.result, scale: 10 }), mtrc.encode(), createWriteStream('large.mtrc'))
 *
 * @throws RangeError for options that are unknown or out of range; TraceError for a model that is none. Live blocks
 *   that do not fit 2^47 bytes are an error of the stream.
 */
export function generate(options: GenerateOptions): EventReadable {
  const generator = new Generator(options)
  const stream = sourceStream(async function* () {
    for (let batch = generator.next(); batch !== null; batch = generator.next()) yield batch
  })
  return givesEvents(stream, 'generate()') as object as EventReadable
}

/** A sink that makes the model of a trace. */
export type ModelSink = ResultSink<TraceModel>

/**
 * A Writable that makes an anonymous model of the events written to it, for `generate`: the numbers of allocations by
 * thread, site, function, size, lifetime and ending, for each phase. It has no names, addresses and times of day; the
 * sizes are the same as in the trace. Memory grows with the live blocks.
 *
 * @throws RangeError for options: there are none. A trace that does not say which blocks its events are about is an
 *   error of the stream.
 *
 * @example
 * const model = traceModel()
 * await pipeline(createReadStream('app.mtrc'), mtrc.decode(), model)
 * console.log(JSON.stringify(await model.result))
 */
export function traceModel(options?: NoOptions): ModelSink {
  checkOptions(options, {}, 'traceModel')
  return new CollectingSink('traceModel()', new TraceSurvey())
}
