/** The records of blocks, which `blocks.ts` keeps. */

import { BEST } from './level'
import { take } from './room'

/** A live block. */
@unmanaged
export class Block {
  /** The hash of its address and its process. */
  key: u64
  size: u64
  index: u64
  /** Its class, and its position in the class. */
  class: u32
  position: u32
  /** The event that allocated it; 0 if the block is not live. */
  made: u32
  /** Its number among all births; at the best level, its position among all blocks. */
  birth: u32
  /** The next block within the same 16 bytes of addresses, or the next unused one. */
  next: u32
  /** Its handle in the simulation, or 0. */
  handle: u32
  /** For the best level: its site, and its neighbours among the births at the site. */
  site: u32
  siteOlder: u32
  siteYounger: u32
}

const BYTES: u32 = BEST ? 64 : 48
/** The part of keys that depends on the process: a block's key is its address xor this. */
export function mixOf(process: u64): u64 {
  return process * 0x9e37_79b9_7f4a_7c15
}

/** The pieces with the blocks, `PER_PIECE` in each, so that no block moves when the number grows. */
const PIECES: usize = memory.data(8192)
const MOST_PIECES: u32 = 2048
const PER_PIECE_LOG: u32 = 16
const PER_PIECE: u32 = 65_536
let pieces: u32 = 0

export function blockAt(n: u32): Block {
  const piece = load<u32>(PIECES + ((<usize>(n >> PER_PIECE_LOG)) << 2))
  return changetype<Block>(<usize>piece + <usize>(n & (PER_PIECE - 1)) * BYTES)
}

/** Makes room for block `n`, which follows the others. @returns false if memory is exhausted */
export function reserveBlock(n: u32): bool {
  if (n >> PER_PIECE_LOG != pieces) return true
  const piece = pieces == MOST_PIECES ? <usize>0 : take(PER_PIECE * BYTES)
  if (piece == 0) return false
  store<u32>(PIECES + ((<usize>pieces) << 2), <u32>piece)
  pieces++
  return true
}
