/** The maximum number of pairs of a site and a thread with figures of their own. */
export const MAX_SHARES = 65_536
/** The maximum number of counts of blocks by site, allocating and freeing thread. */
export const MAX_HANDOFFS = 65_536

/** The figures that a row of a site and a thread begins with, as all rows of owners do: see owners.ts. */
export const OWNER_BYTES = 152
/** It continues with the rows of its site and its thread. */
export const SHARE_SITE = 152
export const SHARE_THREAD = 156
export const SHARE_BYTES = 160

/** The key of a handoff is the site's row, the allocating thread's row and the freeing thread's row, of these bits. */
export const THREAD_BITS = 17
