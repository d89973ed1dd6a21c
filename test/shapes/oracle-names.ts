import type { PlainEvent } from './plain-events.js'

/** The family of a function. */
export const FAMILIES: Readonly<Record<string, string>> = {
  malloc: 'malloc',
  calloc: 'malloc',
  memalign: 'malloc',
  realloc: 'malloc',
  free: 'malloc',
  new: 'new',
  delete: 'new',
}

/** What a block is called. */
export type Name = string | bigint

/** What a thread is called. */
export const threadOf = (process: bigint | undefined, thread: bigint | undefined) =>
  thread === undefined && process === undefined ? 'none' : `${String(process)} ${String(thread)}`

/** What a process is called. */
export const processOf = (process: bigint | undefined) => (process === undefined ? 'none' : String(process))

/** What names the block at an address: its index, or the address in its process. */
export function nameOf({ index, process }: PlainEvent, address: bigint | undefined): Name {
  if (index !== undefined) return `#${String(index)}`
  return process === undefined ? (address ?? 0n) : `${String(process)}:${String(address ?? 0n)}`
}

/** Whether an event that is not a realloc names no block. */
export const isNull = ({ index, address }: PlainEvent) => index === undefined && (address ?? 0n) === 0n
