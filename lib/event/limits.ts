/** Batches hold at most this many events: enough to amortise a stage's fixed cost, small enough to stay in cache. */
export const BATCH_EVENTS = 4096

/** Decoders close a batch when its strings take this many bytes. */
export const BATCH_STRING_BYTES = 262_144
