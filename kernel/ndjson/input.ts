/** Where text is read. After its 262144 bytes there is room for what readers look at beyond a line. */
export const INPUT: usize = memory.data(263_216, 64)
