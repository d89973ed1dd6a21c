import type { EventBatch } from './batch.js'
import { FieldBit, Kind } from './fields.js'
import { formatsOf, type TraceHeader } from './header.js'

/** How comments begin that say what their thread is called. */
export const THREAD_NAME = 'thread '

const IS_NAME = FieldBit.thread | FieldBit.text
const IS_COMMAND = FieldBit.process | FieldBit.text

/** How a comment says what a process runs: `process 2 is pid 4711, started by 1: gcc -c a.c`. */
export function processText(process: number, pid: number, origin: string, command: string): string {
  return `process ${process} is pid ${pid}, ${origin}: ${command}`
}

/** Whether comments of a trace may name threads and the commands of processes: those of heapflow's own recorder do. */
export function hasRecordedNames(header: TraceHeader): boolean {
  return formatsOf(header).includes('recorder')
}

/**
 * The name that a comment gives its thread; undefined for other events.
 * @param i an event of a trace with `hasRecordedNames`
 */
export function threadNameAt(batch: EventBatch, i: number): string | undefined {
  if (batch.kind[i] !== Kind.comment || (batch.mask[i] & IS_NAME) !== IS_NAME) return undefined
  const text = batch.strings.text(batch.text[i])
  return text.startsWith(THREAD_NAME) ? text.slice(THREAD_NAME.length) : undefined
}

/**
 * The command that a comment says its process runs; undefined for other events.
 * @param i as for `threadNameAt`
 */
export function commandAt(batch: EventBatch, i: number): string | undefined {
  if (batch.kind[i] !== Kind.comment || (batch.mask[i] & IS_COMMAND) !== IS_COMMAND) return undefined
  const text = batch.strings.text(batch.text[i])
  const begin = text.indexOf(': ')
  return text.startsWith('process ') && begin > 0 ? text.slice(begin + 2) : undefined
}
