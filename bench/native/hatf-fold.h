/*
 * A realloc in HATF follows records for its components, an alloc and a free. These are removed, as in
 * kernel/hatf/fold.ts.
 */
#pragma once
#include "columns.h"

/* The number of rows before a realloc that can be its components. */
enum { FOLD_WINDOW = 64 };

#define COLUMNS(F) F(kind) F(mask) F(size) F(address) F(oldAddress) F(outcome) F(thread) F(heap) F(time)

static inline void copy_row(Batch *batch, uint32_t to, uint32_t from) {
#define F(column) batch->column[to] = batch->column[from];
  COLUMNS(F)
#undef F
}

/* Removes the alloc and the free of the realloc in the last row from the batch, if they are present. */
static void fold(Batch *batch) {
  uint32_t row = batch->events - 1;
  unsigned outcome = batch->outcome[row];
  bool wants_alloc = outcome != OUTCOME_FREED, wants_free = outcome != OUTCOME_ALLOCATED;
  uint32_t found[2], n = 0;
  for (uint32_t r = row; wants_alloc || wants_free;) {
    if (r == 0 || row - --r > FOLD_WINDOW) return;
    if (batch->thread[r] != batch->thread[row]) continue;
    unsigned kind = batch->kind[r];
    if (kind == ALLOC ? !wants_alloc || batch->address[r] != batch->address[row]
                      : kind != FREE || !wants_free || batch->address[r] != batch->oldAddress[row]) return;
    if (kind == ALLOC) wants_alloc = false;
    else wants_free = false;
    found[n++] = r;
  }
  /* These rows are usually the last ones, so little must be moved. */
  uint32_t to = found[n - 1];
  for (uint32_t r = to + 1; r <= row; r++) if (r != found[0]) copy_row(batch, to++, r);
  batch->events = to;
}

/* The first row that may still be a component of a later realloc, because its thread has done nothing else since. */
static uint32_t first_held(const Batch *batch) {
  uint32_t count = batch->events, first = count;
  for (uint32_t r = count; r > 0 && count - r < FOLD_WINDOW;) {
    unsigned kind = batch->kind[--r];
    if (kind > FREE) continue;
    uint32_t later = 0, n = 0;
    for (uint32_t s = r + 1; s < count && n < 2; s++) {
      if (batch->thread[s] != batch->thread[r]) continue;
      later = s;
      n++;
    }
    if (n == 0 || (n == 1 && batch->kind[later] <= FREE && batch->kind[later] != kind)) first = r;
  }
  return first;
}
