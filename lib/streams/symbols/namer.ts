import type { Frame } from '../../event/frame.js'

/** The frames at an address, the innermost first; all but the last one are inlined. Empty if nothing is known. */
export type Names = readonly Pick<Frame, 'function' | 'file' | 'line'>[]

/** Names the addresses of one file. */
export interface AddressNamer {
  /** The names at addresses. @throws Error when they cannot be found */
  ask(addresses: readonly bigint[]): Promise<Names[]>
  /** Frees what it holds, such as a process. */
  close(): void
}
