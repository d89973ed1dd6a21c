/** Buffers for reading and writing lines of memory_replay. */

import { KERNEL_INPUT } from '../../lib/kernel/layouts/input'
import { HAS_END_TIME, HAS_TIME } from '../shared/event'

/** The input buffer: 262144 bytes, followed by room for what the readers of numbers examine beyond a line. */
export const INPUT: usize = memory.data(KERNEL_INPUT + 32)
/** The output buffer: 4096 lines of at most 160 bytes. */
export const OUTPUT: usize = memory.data(655392)

export const SPACE: u32 = 0x20
export const TAB: u32 = 0x09
export const LF: u32 = 0x0a
export const CR: u32 = 0x0d

export const TIMES: u32 = HAS_TIME | HAS_END_TIME
