/** Set in a name's byte when the name itself follows, with a NUL at its end. */
export const NAME_DEFINES = 0x80

/** The longest canonical encoding of a 64-bit number as LEB128, in bytes. */
export const MAX_CANONICAL_LEB = 10
