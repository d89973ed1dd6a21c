/** What is wrong with a message, in words; the decoder adds the place. */
export class ArrowFault extends Error {}

/** What a message needs more memory for than is given to it, in words; the decoder adds the place. */
export class ArrowLimit extends Error {}
