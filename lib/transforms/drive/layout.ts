/** The layout of files of operations, as docs/operations.md describes it. native/replay/format.h has the same. */

/** The first and the last eight bytes of a file. */
export const MAGIC = Uint8Array.from([...'HFOPS\r\n\u001a'].map((char) => char.charCodeAt(0)))
/** The version of the layout. */
export const VERSION = 1
/** The sizes of the head, of an entry of each table, and of the tail, in bytes. */
export const HEAD_BYTES = 16
export const THREAD_BYTES = 32
export const CHUNK_BYTES = 16
export const TAIL_BYTES = 80

/** As a slot, the null pointer. As an epoch, the end of the last one. */
export const NONE = 0xffff_ffff
/** The bits of an operation's kind; the rest of the word has the low bits of a size. */
export const KIND_BITS = 4
export const LOW_BITS = 28
/** The largest size of a block, and the logarithm of the largest alignment. */
export const MOST_SIZE = 2 ** 46
export const MOST_ALIGNMENT = 30
/** The maximum number of threads of a trace. */
export const MOST_THREADS = 65_536

/** The kinds of operations. */
export const Op = {
  link: 0,
  malloc: 1,
  calloc: 2,
  memalign: 3,
  realloc: 4,
  to: 5,
  free: 6,
  more: 7,
  wait: 8,
  epoch: 9,
  spawn: 10,
  exit: 11,
  time: 12,
  publish: 13,
} as const

/** The ways to keep the order between threads. */
export const ORDERS = ['epochs', 'lifetimes', 'total'] as const
export type OrderName = (typeof ORDERS)[number]
/** The default number of events of an epoch. */
export const EPOCH_EVENTS = 1000
