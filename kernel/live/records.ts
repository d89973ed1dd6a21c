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
