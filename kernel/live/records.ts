/** Room for 48 bytes for each block, found by the number of the block. */
import { takeZeros } from './room'

const BLOCK_BYTES: usize = 48
/** Blocks are stored in pieces of 64 KiB, so that none moves when the number grows. */
const PIECE: u32 = 16
const IN_PIECE: u32 = 65536 / 48
/** The addresses of the pieces, as many as can fit into memory. */
const PIECES: usize = memory.data(262144)
let pieces: u32 = 0

/** Makes room for blocks up to a number; it is zero at first. @returns whether there is memory */
export function makeBlocks(numbers: u32): bool {
  while (pieces * IN_PIECE <= numbers) {
    const piece = takeZeros(PIECE)
    if (piece == 0) return false
    store<u32>(PIECES + ((<usize>pieces) << 2), <u32>piece)
    pieces++
  }
  return true
}

// @ts-ignore: decorator
@inline
export function blockAt(number: u32): usize {
  const piece = number / IN_PIECE
  return <usize>load<u32>(PIECES + ((<usize>piece) << 2)) + <usize>(number - piece * IN_PIECE) * BLOCK_BYTES
}

/** The number of rows whose blocks are read ahead: together, because the processor waits for several at a time. */
export const AHEAD: usize = 32
const READ: usize = memory.data(4)

/**
 * Reads parts of blocks, so that they are in the processor's cache.
 * @param ended the numbers of the blocks that each row ends, from the first row on
 * @param row the next one
 * @param rows all of them
 */
export function readAhead(ended: usize, row: usize, rows: usize): void {
  let all: u32 = 0
  for (const end = min(row + AHEAD, rows); row < end; row++) {
    const block = blockAt(load<u32>(ended + (row << 2)))
    all ^= load<u32>(block) ^ load<u32>(block, BLOCK_BYTES - 4)
  }
  // Keeps what was read, because reads without a use would be optimized away.
  store<u32>(READ, all)
}

/** Whether blocks up to a number do not fit the processor's nearer caches, so that reading ahead saves time. */
export function isFar(numbers: u32): bool {
  return numbers > 8192
}
