import type { PreparedReplay } from '../../transforms/drive/result.js'

/** Where the tail has the number of epochs, of threads and of slots, in words from its beginning. */
const EPOCHS = 6
const THREADS = 14
const SLOTS = 15
/** Words of an entry of the tables, and of the tail: docs/operations.md. */
const THREAD_WORDS = 8
const CHUNK_WORDS = 4
const TAIL_WORDS = 20

/**
 * The end of the program: which tables of operations each thread has, and room for blocks and epochs.
 * @param words the tables and the tail of a file of operations
 */
export function* programEnd(words: Uint32Array, { calls, skipped }: PreparedReplay): Generator<string> {
  const numbers = new BigUint64Array(words.buffer, words.byteOffset, words.length >> 1)
  const tail = words.length - TAIL_WORDS
  const threads = words[tail + THREADS]
  const chunks = threads * THREAD_WORDS
  yield '\n/* The tables of each thread. */\n'
  for (let thread = 0; thread < threads; thread++) {
    const first = Number(numbers[(thread * THREAD_WORDS) >> 1])
    const n = Number(numbers[((thread * THREAD_WORDS) >> 1) + 1])
    yield `static const uint32_t *const tables_${thread}[] = {\n`
    for (let chunk = first; chunk < first + n; chunk++) yield `ops_${numbers[(chunks + chunk * CHUNK_WORDS) >> 1]},\n`
    yield 'NULL};\n'
  }
  yield '\nstruct thread threads[] = {\n'
  for (let thread = 0; thread < threads; thread++) yield `THREAD(tables_${thread}),\n`
  const epochs = Number(numbers[(tail + EPOCHS) >> 1])
  const skips = Object.values(skipped).reduce((sum, n) => sum + n, 0)
  yield `};
const uint32_t thread_count = ${threads}, epoch_count = ${epochs};
uint32_t epoch_threads[${Math.max(1, epochs)}];
void *slots[${Math.max(1, words[tail + SLOTS])}];

/*
 * Calls: malloc ${calls.malloc}, calloc ${calls.calloc}, posix_memalign ${calls.memalign}, realloc ${calls.realloc}, \
free ${calls.free}.
 * Events of the trace that could not be made as they are: ${skips}.
 */
`
}
