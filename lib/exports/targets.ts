import type { FormatInfo, EncodeOptions } from '../event/format.js'
import type { Encoder } from '../event/stage.js'
import { FORMATS, formatNamed, formatOfPath, WRITABLE } from '../formats/index.js'
import { info as cSourceInfo } from './c-source/info.js'

/** A target for events: a format, or a file for another program, which heapflow does not read. */
export interface Target extends FormatInfo {
  encoder(options?: EncodeOptions): Encoder
}

/** A target whose code is loaded when it is used. */
export interface TargetEntry extends FormatInfo {
  load(): Promise<FormatInfo | Target>
}

/** A program in C that makes the calls of the trace. */
export const cSource: TargetEntry = {
  ...cSourceInfo,
  load: async () => (await import('./c-source/index.js')).cSource,
}

export const WRITE_ONLY: readonly TargetEntry[] = [cSource]

/** All targets, those that a program has registered too. */
export function targets(): readonly TargetEntry[] {
  return [...WRITABLE, ...WRITE_ONLY]
}

/** Everything with options to encode, for flags. */
export function encodable(): readonly FormatInfo[] {
  return [...FORMATS, ...WRITE_ONLY]
}

/** The target of this name, or the format, also one that can only be read. */
export function targetNamed(name: string): TargetEntry | undefined {
  return formatNamed(name) ?? WRITE_ONLY.find((entry) => entry.name === name)
}

/** The same for the name of a file. */
export function targetOfPath(path: string): TargetEntry | undefined {
  const plain = path.toLowerCase().replace(/\.(gz|zst|xz)$/, '')
  return formatOfPath(path) ?? WRITE_ONLY.find(({ extensions }) => extensions.some((end) => plain.endsWith(end)))
}
