import type { EventBatch } from './batch.js'
import { FieldBit, Kind } from './fields.js'
import { formatsOf, type TraceHeader } from './header.js'

/** How comments begin that say what their thread is called. */
export const THREAD_NAME = 'thread '

const IS_NAME = FieldBit.thread | FieldBit.text

/** Whether comments of a trace may say what threads are called: those of heapflow's own recorder do. */
export function hasThreadNames(header: TraceHeader): boolean {
  return formatsOf(header).includes('recorder')
}

/**
 * The name that a comment gives its thread; undefined for other events.
 * @param i an event of a trace with `hasThreadNames`
 */
export function threadNameAt(batch: EventBatch, i: number): string | undefined {
  if (batch.kind[i] !== Kind.comment || (batch.mask[i] & IS_NAME) !== IS_NAME) return undefined
  const text = batch.strings.text(batch.text[i])
  return text.startsWith(THREAD_NAME) ? text.slice(THREAD_NAME.length) : undefined
}
