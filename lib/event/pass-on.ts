import type { EventBatch } from './batch.js'
import type { BatchTransform } from './stage.js'

/**
 * A stage that passes batches on as they are.
 * @param look is called with each of them
 * @param more further methods of the stage, such as `dispose`
 */
export function passOn(look: (batch: EventBatch) => void, more: Partial<BatchTransform> = {}): BatchTransform {
  let held: EventBatch | null = null
  return {
    consumes: true,
    feed(batch) {
      look(batch)
      held = batch
    },
    next() {
      const batch = held
      held = null
      return batch
    },
    end() {},
    endTruncated() {},
    ...more,
  }
}
