/** The units of sizes in options and in messages, in bytes. */
export const KIB = 1024
/** See `KIB`. */
export const MIB = 1_048_576
