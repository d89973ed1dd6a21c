import type { Random } from './random.js'

/** Something that inputs are thrown at. */
export interface Target {
  readonly name: string
  /** How many of its inputs stand for one of the others, which take longer. Default 1. */
  readonly weight?: number
  /** The next input, of which `write` makes a file. */
  make(random: Random): Input
}

/** An input, and what is checked with it. */
export interface Input {
  /** What the file that keeps it is called: `.mtrc`, `.ndjson`. */
  readonly extension: string
  bytes(): Uint8Array
  /** @throws Failure, or whatever a stage throws that it must not */
  check(): void | Promise<void>
}
