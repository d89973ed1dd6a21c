import { Tag } from '../../../lib/formats/recorder/layout.js'

/** The first bytes of a recording, with its version. */
export const BEGINNING = [0x89, 0x48, 0x46, 0x52, 0x45, 0x43, 0x0a, 2]

/** A number of 7 bits a byte. */
export function number(value: bigint | number): number[] {
  let rest = BigInt(value)
  const bytes: number[] = []
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return [...bytes, Number(rest)]
}

/** A difference, whose lowest bit is its sign. */
export function difference(value: bigint | number): number[] {
  const big = BigInt(value)
  return number(BigInt.asUintN(64, (big << 1n) ^ (big >> 63n)))
}

/** A string after its length. */
export function string(text: string): number[] {
  const bytes = [...Buffer.from(text)]
  return [...number(bytes.length), ...bytes]
}

/** A record of numbers. */
export const record = (tag: keyof typeof Tag, ...parts: readonly number[][]): number[] => [Tag[tag], ...parts.flat()]

/** A recording of these records, after its beginning. */
export const recording = (...records: readonly number[][]): Uint8Array =>
  Uint8Array.from([...BEGINNING, ...records.flat()])

/** The record of a process, with its number and its command. */
export const PROCESS = [Tag.process, ...number(4711), ...string('./app -v')]

/** An end mark after an exit with status 0. */
export const end = (events: number): number[] => record('end', number(0), number(0), number(events))
