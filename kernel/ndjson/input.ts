/** The input buffer: 262144 bytes, followed by room for what readers examine beyond a line. */

import { KERNEL_INPUT } from '../../lib/kernel/layouts/input'

export const INPUT: usize = memory.data(KERNEL_INPUT + 1072, 64)
