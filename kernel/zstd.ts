/**
 * Decodes the blocks of zstd's frames. Their content goes to a history, from which the caller copies it. The input
 * contains one block at a time, without its header. See lib/compression/zstd-blocks.ts.
 */

import { CORRUPT, NO_MEMORY } from '../lib/kernel/layouts/zstd'
import { advance, beginFrame, makeRoom, most, place } from './zstd/history'
import { forgetTree } from './zstd/huffman'
import { readLiterals } from './zstd/literals'
import { execute, forgetSequences, INVALID } from './zstd/sequences'

/** A block, and room for what its reader examines beyond the end. */
export const INPUT: usize = memory.data(131_072 + 64, 16)

// Types of blocks.
const RAW: u32 = 0
const REPEATED: u32 = 1

/** The start of the content of the last block. */
export let content: usize = 0

/** Begins a frame with a window of this many bytes. */
export function begin(window: u32): void {
  beginFrame(window)
  forgetTree()
  forgetSequences()
}

/**
 * Decodes the block in the input.
 * @param size as its header states it: of its content, or, if it is compressed, of the input
 * @returns the length of its content; `CORRUPT`, or `NO_MEMORY`
 */
export function decode(type: u32, size: u32): i32 {
  if (size > most) return CORRUPT
  if (!makeRoom()) return NO_MEMORY
  content = place
  let length = size
  if (type == RAW) memory.copy(content, INPUT, size)
  else if (type == REPEATED) memory.fill(content, load<u8>(INPUT), size)
  else {
    const p = readLiterals(INPUT, INPUT + size)
    length = p == 0 ? INVALID : execute(p, INPUT + size)
    if (length == INVALID) return CORRUPT
  }
  advance(length)
  return <i32>length
}
