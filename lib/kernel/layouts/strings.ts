/** The sizes of the tables of a batch's strings, without what readers and writers need beyond their ends. */
export const MAX_STRING_BYTES = 393_216
export const MAX_STRINGS = 16_384
export const MAX_LISTED = 65_536
export const MAX_LISTS = 4096
/** The room in which a single string is unescaped. */
export const SCRATCH_SIZE = 65_536
