/** The size of a kernel's input buffer. Room for what readers examine beyond its end follows. */
export const KERNEL_INPUT = 262_144
