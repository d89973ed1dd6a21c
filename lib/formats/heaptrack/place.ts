import type { EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import { formatFrame } from '../../event/frame.js'

/** The text of a frame for the place of an event without a stack. */
export function placeFrame(batch: EventBatch, i: number): string {
  const mask = batch.mask[i]
  const { strings } = batch
  const text = (has: number, column: Uint32Array) => ((mask & has) === 0 ? undefined : strings.text(column[i]))
  const name = text(FieldBit.function, batch.function)
  const file = text(FieldBit.file, batch.file)
  const module = text(FieldBit.module, batch.module)
  return formatFrame({
    ...(name !== undefined && { function: name }),
    ...(file !== undefined && { file }),
    ...(file !== undefined && (mask & FieldBit.line) !== 0 && { line: batch.line[i] }),
    ...(module !== undefined && { module }),
    ...((mask & FieldBit.callSite) !== 0 && { address: batch.callSite.values[i] }),
  })
}
