import type { EventBatch } from '../event/batch.js'
import { recycle } from '../event/recycle.js'
import type { Stage } from '../event/stage.js'

/** Called with each warning, a sentence. */
export type Warn = (text: string) => void

/**
 * Runs a stage over chunks or batches inside a generator.
 * @param warn called with each warning of the stage
 * @param recycles whether to recycle the inputs when the stage has finished with them
 */
export async function* runStage<In extends Uint8Array | EventBatch, Out>(
  stage: Stage<In, Out>,
  source: AsyncIterable<In>,
  warn: Warn,
  recycles = false,
): AsyncGenerator<Out> {
  let warned = 0
  const results = function* (): Generator<Out> {
    try {
      for (let out = stage.next(); out !== null; out = stage.next()) yield out
    } finally {
      const warnings = stage.warnings ?? []
      while (warned < warnings.length) warn(warnings[warned++])
    }
  }
  const inputs = source[Symbol.asyncIterator]()
  let isOpen = true
  let last: In | undefined
  try {
    for (;;) {
      let input: IteratorResult<In>
      try {
        input = await inputs.next()
      } catch (error) {
        isOpen = false
        // The events that the stage holds back precede the fault.
        stage.endTruncated()
        yield* results()
        throw error
      }
      if (input.done === true) break
      stage.feed(input.value)
      if (recycles && last !== undefined) recycle(last)
      last = input.value
      yield* results()
    }
    isOpen = false
    stage.end()
    yield* results()
  } finally {
    stage.dispose?.()
    // The stage failed, or the consumer stopped.
    if (isOpen) await inputs.return?.()
  }
}
