/* The layout of files of operations, as docs/operations.md describes it; lib/transforms/drive/layout.ts has it, too. */
#ifndef FORMAT_H
#define FORMAT_H

#include <stdint.h>

#define MAGIC "HFOPS\r\n\032"
#define VERSION 1
#define NONE 0xffffffffu

#define MOST_THREADS 65536u
#define MOST_SIZE ((uint64_t)1 << 46)
#define MOST_ALIGNMENT 30u

/* The low 4 bits of the first word. The other 28 are the low bits of a size. */
enum kind {
  LINK,     /* the chunk ends */
  MALLOC,   /* size; slot */
  CALLOC,   /* size; slot */
  MEMALIGN, /* size; slot. The alignment is in MORE */
  REALLOC,  /* size; the slot of the old block, or NONE. TO follows */
  TO,       /* size of the old block; the slot of the new one */
  FREE,     /* -; slot, or NONE */
  MORE,     /* the higher bits of the size (or position) of the next operation; log2 of its alignment */
  WAIT,     /* thread; until that thread has executed so many operations (low 32 bits) */
  EPOCH,    /* -; the epoch that the thread enters, or NONE after the last. It leaves the one before */
  SPAWN,    /* -; the thread that begins */
  EXIT,     /* the thread ends before the program does */
  TIME,     /* the higher bits of a time; the low 32 bits: ns from the beginning of the trace */
  PUBLISH,  /* lets waiting threads see how far this one is */
  KINDS
};

#define KIND_BITS 4
#define KIND(op) ((op)->word & 15u)
#define LOW(op) ((op)->word >> KIND_BITS)
#define LOW_BITS 28

struct op {
  uint32_t word, value;
};

struct head {
  char magic[8];
  uint32_t version, zero;
};

/* A part of the operations of one thread: they are contiguous, and LINK follows the last. */
struct chunk {
  uint64_t offset;
  uint64_t ops;
};

struct thread {
  uint64_t first_chunk, chunks, ops, calls;
};

/* At the end of the file. Offsets are from its beginning. */
struct tail {
  uint64_t threads_at, chunks_at;
  uint64_t chunks, epochs, calls;
  uint64_t peak_bytes, peak_blocks;
  uint32_t threads, slots;
  uint32_t zero, checksum; /* FNV-1a of all words before it */
  char magic[8];
};

#endif
