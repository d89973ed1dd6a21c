import { statOf } from '../streams/io/file-status.js'
import type { Arguments, Command } from './command.js'

/** Inputs with at most this total size are small, compressed or not. */
const LITTLE = 65_536

/** The function that scripts/load-chunk.cjs offers if it helps: V8 compiles less in this process from now on. */
const EXPECT_LITTLE = Symbol.for('heapflow.expectLittle')

/**
 * Has V8 compile less if all inputs of a command are files, and small: its operands, and what flags have it read. Pipes
 * may have any length.
 */
export function expectLittle(command: Command, { operands, reads }: Arguments): void {
  const expect = (globalThis as { [EXPECT_LITTLE]?: () => void })[EXPECT_LITTLE]
  if (expect === undefined || command.isOpenEnded === true) return
  let bytes = 0
  for (const path of [...(operands.length === 0 ? ['-'] : operands), ...reads.map(([, file]) => file)]) {
    const stats = statOf(path, 0)
    // What does not exist is no input; it may become the output.
    if (stats !== undefined) bytes += stats.isFile() ? stats.size : Infinity
  }
  if (bytes <= LITTLE) expect()
}
