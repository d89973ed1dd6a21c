/*
 * Takes the events out of the rings of a process, in their order.
 */
#ifndef HEAPFLOW_RECORDER_DRAIN_H
#define HEAPFLOW_RECORDER_DRAIN_H

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "clock.h"
#include "pack.h"

static int has_free_stacks;

static const uint64_t *words_of(const struct process *p, uint32_t slot) {
  return (const uint64_t *)(const void *)((const char *)p->region + head_bytes(slot_count) + slot * RING_BYTES);
}

static uint64_t head_of(const struct process *p, uint32_t slot) {
  return __atomic_load_n(&p->region->rings[slot].head, __ATOMIC_ACQUIRE);
}

static inline uint64_t word(const struct process *p, uint32_t slot, uint64_t at) {
  return words_of(p, slot)[at & (RING_WORDS - 1)];
}

static uint32_t slots_of(const struct process *p) { return p->region->slots < p->room ? p->region->slots : p->room; }

/* Tells the program what was read, and wakes a thread that waits for room. */
static void give_back(struct process *p, uint32_t slot) {
  struct ring *ring = &p->region->rings[slot];
  uint64_t tail = p->tails[slot];
  if (ring->tail == tail) return;
  __atomic_store_n(&ring->tail, tail, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&ring->waiting, __ATOMIC_SEQ_CST) && head_of(p, slot) - tail < RING_WORDS / 2) {
    __atomic_store_n(&ring->waiting, 0, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, (uint32_t *)&ring->tail, FUTEX_WAKE, 1, NULL, NULL, 0);
  }
}

/*
 * Whether a ring has an event. The program writes the head of the ring for each event: it is looked at only when what
 * was there before is read, because each look takes the line of the cache from the program.
 */
static int has_event(struct process *p, uint32_t slot) {
  if (p->heads[slot] != p->tails[slot]) return 1;
  give_back(p, slot);
  p->heads[slot] = head_of(p, slot);
  return p->heads[slot] != p->tails[slot];
}

/* Whether a ring has the event of the expected number. If its next event is a later one, that is noted. */
static int is_next(struct process *p, uint32_t slot) {
  if (!has_event(p, slot)) return 0;
  uint64_t number = word(p, slot, p->tails[slot] + 1);
  if (number == p->expected) return 1;
  p->hints[number & (HINTS - 1)] = slot;
  return 0;
}

/* The slot with the event of the expected number. When the process has ended, numbers that no event has are passed. */
static int next_slot(struct process *p) {
  if (is_next(p, p->last_slot)) return 1;
  uint32_t slots = slots_of(p), hint = p->hints[p->expected & (HINTS - 1)];
  if (hint < slots && is_next(p, hint)) return p->last_slot = hint, 1;
  for (uint32_t i = 0; i < slots; i++)
    if (is_next(p, i)) return p->last_slot = i, 1;
  if (!p->is_gone) return 0;
  int is_found = 0;
  for (uint32_t i = 0; i < slots; i++) {
    if (!has_event(p, i)) continue;
    uint64_t number = word(p, i, p->tails[i] + 1);
    if (!is_found || number < p->expected) p->expected = number, p->last_slot = i;
    is_found = 1;
  }
  return is_found;
}

/* Finds the next event, and its time, which is 0 for what has none. Returns whether there is one. */
static int find_next(struct process *p) {
  if (!next_slot(p)) return 0;
  uint64_t tail = p->tails[p->last_slot];
  uint64_t kind = word(p, p->last_slot, tail) & 255;
  p->next_time = kind < R_MODULE || kind == R_THREAD_END ? time_of(word(p, p->last_slot, tail + 2)) : 0;
  return 1;
}

/* Ends a realloc whose old block another thread may have got before its end: it becomes a free and an allocation. */
static void split_held(struct process *p) {
  if (!p->is_held) return;
  p->is_held = 0;
  p->is_split[p->held_slot] = 1;
  pack_thread(p, p->held_tid);
  pack_free(E_RELEASED, p->held_time, p->held_address);
}

/* A process that has inherited blocks ends one: if it is none of its own, it had it before. */
static void ends_block(struct process *p, uint32_t tid, const uint64_t *record) {
  struct entry *entry = entry_of(&p->blocks, record[3], 0);
  if (entry->number == 0) {
    pack_thread(p, tid);
    pack_existing(record[2], record[3], record[EVENT_WORDS]);
  }
  entry->number = GONE;
}

static void name_thread(struct process *p, uint32_t slot, const struct name *name) {
  const struct name *before = p->names[slot].text[0] != 0 ? &p->names[slot] : &p->own_name;
  if (memcmp(before, name, sizeof *name) == 0 || p->number == 0) return;
  p->names[slot] = *name;
  pack_thread(p, p->region->rings[slot].tid);
  pack_name(name);
}

static void take_block(struct process *p, uint32_t slot, uint32_t kind, const uint64_t *record, uint32_t node) {
  if (p->region->has_inherited && kind <= R_REALLOC) entry_of(&p->blocks, record[3], 0)->number = LIVE;
  switch (kind) {
    case R_MALLOC: pack_alloc(E_MALLOC, record, node); break;
    case R_CALLOC: pack_alloc(E_CALLOC, record, node); break;
    case R_ALIGNED: pack_alloc(E_ALIGNED, record, node); break;
    case R_REALLOC:
      pack_alloc(record[6] == 0 || p->is_split[slot] ? E_NEW_REALLOC : E_REALLOC, record, node);
      break;
    case R_FREE:
      if (has_free_stacks) pack_free_stack(record[2], record[3], node);
      else pack_free(E_FREE, record[2], record[3]);
      break;
    default: break;
  }
}

/* Takes the event that `find_next` has found. */
static void take(struct process *p) {
  uint32_t slot = p->last_slot;
  struct ring *ring = &p->region->rings[slot];
  uint64_t tail = p->tails[slot], first = word(p, slot, tail);
  uint32_t kind = first & 255, words = first >> 8 & 0xffff, same = first >> 24 & 0xffff, fresh = first >> 40 & 0xffff;
  static uint64_t record[MAX_RECORD + 256];
  if (words > MAX_RECORD) words = MAX_RECORD;
  if (words < UNLOADED_WORDS || words > p->heads[slot] - tail) {
    /* The program has written over it. What else the ring has is lost. */
    p->tails[slot] = p->heads[slot];
    __atomic_fetch_add(&ring->lost, 1, __ATOMIC_RELAXED);
    return;
  }
  for (uint32_t i = 0; i < words; i++) record[i] = word(p, slot, tail + i);
  if (p->next_time != 0) record[2] = p->next_time;
  if (p->is_held && p->held_slot != slot && kind != R_THREAD_END) split_held(p);
  if (kind == R_THREAD_END) {
    pack_thread_end(p, ring->tid, record[2]);
  } else if (kind == R_MODULE) {
    pack_module(p, record[2], record[3], record[4], (const uint8_t *)(record + 1 + MODULE_WORDS), record[5], record[6]);
  } else if (kind == R_UNLOADED) {
    pack_unloaded(p, record[2]);
  } else if (kind == R_NAME) {
    name_thread(p, slot, (const struct name *)(const void *)(record + 3));
  } else {
    int is_whole = p->is_held;
    p->is_held = 0;
    pack_thread(p, ring->tid);
    if (p->region->has_inherited && (kind == R_FREE || kind == R_OLD)) ends_block(p, ring->tid, record);
    uint32_t base = kind == R_FREE ? EVENT_WORDS + (p->region->has_inherited ? 1 : 0) : ALLOC_WORDS;
    int has_stack = kind == R_FREE ? has_free_stacks : kind <= R_REALLOC;
    if (base + fresh > words) fresh = words > base ? words - base : 0;
    uint32_t node = has_stack ? pack_stack(p, slot, same, record + base, fresh) : 0;
    if (kind == R_OLD) {
      p->is_held = 1;
      p->held_slot = slot;
      p->held_tid = ring->tid;
      p->held_address = record[3];
      p->held_time = record[2];
    } else if (kind == R_RELEASED) {
      if (is_whole) pack_free(E_RELEASED, record[2], record[3]);
    } else if (kind == R_KEPT) {
      if (p->region->has_inherited) entry_of(&p->blocks, record[3], 0)->number = LIVE;
      if (p->is_split[slot]) pack_free(E_KEPT, record[2], record[3]);
    } else take_block(p, slot, kind, record, node);
    if (kind == R_REALLOC || kind == R_RELEASED || kind == R_KEPT) p->is_split[slot] = 0;
  }
  p->expected++;
  p->tails[slot] = tail + words;
  if (p->tails[slot] - ring->tail >= RING_WORDS / 8) give_back(p, slot);
}

/* The events that were lost, for want of slots and for other reasons. */
static uint64_t lost_without_slot, lost_in_slots;

static void note_losses(struct process *p) {
  for (uint32_t i = 0; i < slots_of(p); i++) {
    uint64_t lost = __atomic_load_n(&p->region->rings[i].lost, __ATOMIC_RELAXED);
    if (lost == p->lost_seen[i]) continue;
    pack_lost(p, p->region->rings[i].tid, lost - p->lost_seen[i]);
    lost_in_slots += lost - p->lost_seen[i];
    p->lost_seen[i] = lost;
  }
  uint64_t lost = __atomic_load_n(&p->region->lost, __ATOMIC_RELAXED);
  if (lost == p->region_lost_seen) return;
  pack_lost(p, 0, lost - p->region_lost_seen);
  lost_without_slot += lost - p->region_lost_seen;
  p->region_lost_seen = lost;
}

/* Gives the slots of threads that are gone to others. */
static void free_slots(struct process *p) {
  for (uint32_t i = 0; i < slots_of(p); i++) {
    struct ring *ring = &p->region->rings[i];
    if (__atomic_load_n(&ring->state, __ATOMIC_ACQUIRE) != SLOT_ENDING) continue;
    if (syscall(SYS_tgkill, p->pid, ring->tid, 0) == 0 || errno != ESRCH || has_event(p, i)) continue;
    if (p->is_held && p->held_slot == i) continue;
    p->is_split[i] = 0;
    p->names[i].text[0] = 0;
    __atomic_store_n(&ring->state, SLOT_FREE, __ATOMIC_RELEASE);
  }
}

#endif
