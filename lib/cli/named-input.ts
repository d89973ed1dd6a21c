import { EventEmitter } from 'node:events'
import type { EventBatch } from '../event/batch.js'
import { FieldBit } from '../event/fields.js'
import { runStage, type Warn } from '../reading/run-stage.js'
import { decodeBytes } from '../streams/decode-bytes.js'
import { eventCounter } from '../streams/event-counter.js'
import { modifiedAt } from '../streams/io/file-status.js'
import { warningsOn } from '../streams/warnings-on.js'
import type { Arguments } from './command.js'
import { traceInput, type TraceInput } from './input.js'

/**
 * The events of one file for a command that shows names of functions: frames without a function get theirs from the
 * modules of this machine, unless `--no-symbolize` is given. Nothing that fails there fails the command.
 * @param lacking is called at the first frame that lacks a function
 */
export function namedInput(path: string, args: Arguments, lacking = () => {}): TraceInput {
  if (args.has('no-symbolize')) return traceInput(path)
  return traceInput(path, {}, (bytes, emitter, through) => {
    // The events are counted by what follows.
    const uncounted = eventCounter(new EventEmitter(), through.countsInfos)
    const batches = decodeBytes(bytes, { path, recycle: true }, emitter, uncounted)
    const warn = warningsOn(emitter)
    return runStage(through, named(batches, path, warn, lacking), warn, true)
  })
}

/** The batches with names. The code that finds them is loaded when there are stacks, or text that may name modules. */
async function* named(
  batches: AsyncGenerator<EventBatch>,
  path: string,
  warn: Warn,
  lacking: () => void,
): AsyncGenerator<EventBatch> {
  for await (const batch of batches) {
    if ((batch.columns & (FieldBit.stack | FieldBit.text)) === 0) {
      yield batch
      continue
    }
    const { nameFrames } = await import('../streams/symbols/name-frames.js')
    const all = async function* () {
      yield batch
      yield* batches
    }
    yield* nameFrames(
      all(),
      async (loaded) => {
        lacking()
        const { Symbolizer } = await import('../streams/symbols/symbolizer.js')
        return new Symbolizer({}, loaded, { before: modifiedAt(path) ?? Infinity })
      },
      warn,
    )
  }
}
