import { wrongType } from '../event/error.js'
import { showValue } from '../event/message-text.js'
import { checkOptions, type OptionNames } from '../event/options.js'
import * as Merge from './merge.js'
import { isSource, pathOf, readSource, type TraceSource } from './read-source.js'

/** Options of `merge`. */
export interface MergeSourcesOptions extends Merge.MergeInputsOptions {
  /** One trace after the other, instead of by time or sequence number. Default false. */
  readonly endToEnd?: boolean
}

const OPTIONS: OptionNames<MergeSourcesOptions> = { ...Merge.MERGE_INPUTS_OPTIONS, endToEnd: 'boolean' }

/**
 * Several traces as one: a Readable of batches. They are ordered by sequence number or time, or concatenated with
 * `endToEnd`. Each source is a path, bytes, or a stream of bytes, batches or plain events, in any format, compressed or
 * not. When the stream is destroyed or aborted, all sources are closed.
 *
 * A source that fails is merged up to its fault, and the others to their end. Then the stream fails with an error that
 * begins with the source's name: its path, or `input 2`. The error of a failed system call has it as `path` instead.
 * See `mergeInputs` in `heapflow/stages` for more.
 *
 * @example
 * await pipeline(merge('a.mtrc', 'b.hatf.gz', { by: 'time' }), ndjson.encode(), createWriteStream('all.ndjson'))
 *
 * @throws RangeError for unknown options
 */
export function merge(
  ...args: readonly TraceSource[] | readonly [...TraceSource[], MergeSourcesOptions]
): Merge.MergedStream {
  const last = args.at(-1)
  const hasOptions = typeof last === 'object' && last !== null && !isSource(last)
  const { endToEnd = false, ...options } = (hasOptions ? last : {}) as MergeSourcesOptions
  checkOptions({ endToEnd, ...options }, OPTIONS, 'merge')
  if (endToEnd && (options.by ?? options.window) !== undefined)
    throw new RangeError('merge: traces that follow each other are not put in order: leave out `by` and `window`')
  const sources = hasOptions ? args.slice(0, -1) : args
  const inputs = sources.map((source, i) => inputOf(source as TraceSource, i, () => stream))
  const stream: Merge.MergedStream = endToEnd
    ? Merge.concatInputs(inputs, options.signal === undefined ? {} : { signal: options.signal })
    : Merge.mergeInputs(inputs, options)
  return stream
}

function inputOf(source: TraceSource, i: number, stream: () => Merge.MergedStream): Merge.MergeInput {
  if (!isSource(source))
    throw wrongType(`merge: input ${i + 1} must be a path, bytes, a stream or an iterable, not ${showValue(source)}`)
  const path = pathOf(source)
  if (path !== undefined) return { path }
  const name = `input ${i + 1}`
  const onWarning = (text: string) => void stream().emit('warning', `${name}: ${text}`)
  return { path: name, reader: readSource(source, { onWarning }) }
}
