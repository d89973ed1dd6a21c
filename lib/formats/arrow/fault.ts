/** A fault of a message, as text; the decoder adds the position. */
export class ArrowFault extends Error {}

/** The part of a message that exceeds a memory limit, as text; the decoder adds the position. */
export class ArrowLimit extends Error {}
