/** The maximum number of bytes of a line with a call. Others are skipped, however long. */
export const MAX_LINE = 8192
