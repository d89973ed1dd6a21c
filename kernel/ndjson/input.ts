/** The input buffer: 262144 bytes, followed by room for what readers examine beyond a line. */
export const INPUT: usize = memory.data(263_216, 64)
