/*
 * Walks of the stack, by call frame information.
 */
#ifndef HEAPFLOW_RECORDER_STACKS_H
#define HEAPFLOW_RECORDER_STACKS_H

#include "objects.h"
#include "threads.h"

/* ---- modules and rules ---- */

static uint32_t build_id_of(const struct object *object, uint8_t *id) {
  const ElfW(Ehdr) *head = (const void *)object->start;
  if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return 0;
  const ElfW(Phdr) *parts = (const void *)(object->start + head->e_phoff);
  for (unsigned i = 0; i < head->e_phnum; i++) {
    if (parts[i].p_type != PT_NOTE) continue;
    const uint8_t *at = (const uint8_t *)(object->base + parts[i].p_vaddr), *end = at + parts[i].p_memsz;
    while (end - at >= 16) {
      uint32_t name, size, type;
      memcpy(&name, at, 4);
      memcpy(&size, at + 4, 4);
      memcpy(&type, at + 8, 4);
      if (name > 64 || size > 65536) break;
      const uint8_t *value = at + 12 + ((name + 3) & ~3u);
      if (type == NT_GNU_BUILD_ID && name == 4 && memcmp(at + 12, "GNU", 4) == 0 && size <= MAX_BUILD_ID) {
        memcpy(id, value, size);
        return size;
      }
      at = value + ((size + 3) & ~3u);
    }
  }
  return 0;
}

/* Reports a module that this thread meets for the first time. The reader recognizes those that it knows. */
static void report_module(struct thread *t, const struct object *object) {
  uint64_t start = object->start, end = object->end;
  for (uint32_t i = 0; i < t->module_count; i++)
    if (t->modules[i].low == start && t->modules[i].high == end) return;
  uint64_t text[(MAX_BUILD_ID + MAX_PATH) / 8];
  memset(text, 0, sizeof text);
  uint32_t id = build_id_of(object, (uint8_t *)text);
  size_t length = path_of(object, (char *)text + id);
  uint64_t words = 1 + MODULE_WORDS + (id + length + 7) / 8;
  if (!reserve(t, words)) return;
  put(t, t->head, R_MODULE | words << 8);
  put(t, t->head + 1, __atomic_add_fetch(&region->sequence, 1, __ATOMIC_SEQ_CST));
  put(t, t->head + 2, object->base);
  put(t, t->head + 3, start);
  put(t, t->head + 4, end);
  put(t, t->head + 5, id);
  put(t, t->head + 6, length);
  for (uint64_t i = 1 + MODULE_WORDS; i < words; i++) put(t, t->head + i, text[i - 1 - MODULE_WORDS]);
  commit(t, words);
  if (t->module_count < MODULES) t->modules[t->module_count++] = (struct range){ start, end };
  lock();
  uint32_t i = 0;
  while (i < seen_count && (seen[i].low != start || seen[i].high != end)) i++;
  if (i < MODULES) seen[i] = (struct range){ start, end };
  if (i == seen_count && i < MODULES) seen_count++;
  unlock();
}

/* Reports the modules that are no longer loaded. */
static void report_unloaded(struct thread *t) {
  int error = errno;
  lock();
  uint32_t kept = 0;
  for (uint32_t i = 0; i < seen_count; i++) {
    struct object found;
    int result = find_object(seen[i].low, &found);
    if (result == NO_LIST || (result == OBJECT && found.end == seen[i].high)) {
      seen[kept++] = seen[i];
    } else if (reserve(t, UNLOADED_WORDS)) {
      put(t, t->head, R_UNLOADED | UNLOADED_WORDS << 8);
      put(t, t->head + 1, __atomic_add_fetch(&region->sequence, 1, __ATOMIC_SEQ_CST));
      put(t, t->head + 2, seen[i].low);
      commit(t, UNLOADED_WORDS);
    }
  }
  seen_count = kept;
  unlock();
  errno = error;
}

static NOINLINE struct rule new_rule(struct thread *t, uint64_t pc, struct remembered *entry) {
  int error = errno;
  /* A return address may be that of the next function. */
  uint64_t at = (pc & ~EXACT) - !(pc & EXACT);
  struct object found;
  struct rule rule = { .kind = RULE_NONE };
  int result = object_at(at, &found);
  if (result == OBJECT) {
    report_module(t, &found);
    rule.kind = RULE_UNKNOWN;
    if (found.frames != NULL) rule = cf_rule(found.frames, at);
    /* Code of a module without information is no code of a JIT, which has frame pointers. */
    if (rule.kind == RULE_NONE) rule.kind = RULE_UNKNOWN;
  }
  if (result == NO_LIST) rule.kind = RULE_UNKNOWN;
  else *entry = (struct remembered){ pc, rule };
  errno = error;
  return rule;
}

static inline struct rule rule_at(struct thread *t, uint64_t pc) {
  struct remembered *entry = &t->rules[(pc * 0x9e3779b97f4a7c15ull) >> 52];
  return likely(entry->pc == pc) ? entry->rule : new_rule(t, pc, entry);
}

/* ---- stacks ---- */

/* Finds the mapping that contains a stack pointer. */
static NOINLINE int find_stack(struct thread *t, uint64_t sp) {
  for (uint32_t i = 0; i < t->range_count; i++) {
    if (sp >= t->ranges[i].low && sp < t->ranges[i].high) {
      t->low = t->ranges[i].low;
      t->high = t->ranges[i].high;
      return 1;
    }
  }
  int error = errno, is_found = 0;
  struct maps maps;
  struct mapping m;
  uint64_t end_before = 0;
  /* The scratch frames are not in use. */
  if (!open_maps(&maps, (char *)t->scratch, sizeof t->scratch)) {
    errno = error;
    return 0;
  }
  for (; !is_found && next_mapping(&maps, &m); end_before = m.high) {
    if (sp < m.low || sp >= m.high || m.rights[0] != 'r' || m.rights[1] != 'w') continue;
    /* The stack of the first thread grows down to what is mapped below. */
    t->low = strcmp(m.path, "[stack]") == 0 ? end_before : m.low;
    t->high = m.high;
    t->ranges[t->range_count < RANGES ? t->range_count++ : sp / 4096 % RANGES] = (struct range){ t->low, t->high };
    is_found = 1;
  }
  close_maps(&maps);
  errno = error;
  return is_found;
}

enum { STEPPED, ENDED, SHORT };

/* From a frame to its caller. */
static inline int step(struct thread *t, struct frame *f, struct frame *caller) {
  struct rule rule = rule_at(t, f->pc);
  uint64_t cfa = 0, at;
  f->checkable = 1;
  f->bp_at = 0;
  switch (rule.kind) {
    case RULE_RSP: cfa = f->sp + (uint64_t)(int64_t)rule.cfa; break;
    case RULE_NONE: rule = (struct rule){ RULE_RBP, BP_AT_CFA, 16, -16 }; cfa = f->bp + 16; break;
    case RULE_RBP: cfa = f->bp + (uint64_t)(int64_t)rule.cfa; break;
    case RULE_AT_RSP: case RULE_AT_RBP:
      at = (rule.kind == RULE_AT_RSP ? f->sp : f->bp) + (uint64_t)(int64_t)rule.cfa;
      if (at < f->sp || at > t->high - 8 || (at & 7)) return SHORT;
      cfa = *(uint64_t *)at;
      f->checkable = 0;
      break;
    case RULE_SIGNAL:
      /* The context of the kernel follows the return address; its registers begin at 40: rbp 10, rsp 15, rip 16. */
      if (f->sp + 40 + 17 * 8 > t->high) return SHORT;
      const uint64_t *registers = (const uint64_t *)(f->sp + 40);
      f->checkable = 0;
      *caller = (struct frame){ .sp = registers[15], .pc = registers[16] | EXACT, .bp = registers[10] };
      /* It may be on another stack, whose bounds cannot be looked up here. */
      if (caller->sp >= t->low && caller->sp <= t->high - 8) return STEPPED;
      for (uint32_t i = 0; i < t->range_count; i++) {
        if (caller->sp < t->ranges[i].low || caller->sp >= t->ranges[i].high) continue;
        t->low = t->ranges[i].low;
        t->high = t->ranges[i].high;
        return STEPPED;
      }
      return SHORT;
    case RULE_END: return ENDED;
    default: return SHORT;
  }
  if (cfa <= f->sp || cfa > t->high || (cfa & 7)) return SHORT;
  caller->sp = cfa;
  caller->pc = *(uint64_t *)(cfa - 8);
  caller->bp = f->bp;
  if (rule.bp_kind != BP_SAME) {
    at = (rule.bp_kind == BP_AT_CFA ? cfa : f->bp) + (uint64_t)(int64_t)rule.bp;
    if (at + 8 < f->sp || at > t->high - 8 || (at & 7)) return SHORT;
    caller->bp = *(uint64_t *)at;
    f->bp_at = at;
  }
  return caller->pc == 0 ? ENDED : STEPPED;
}

/*
 * Walks the stack from the caller of the allocator. A walk is a function of the registers, the rules, and the words
 * that it reads. Where it meets a frame of the previous walk, the words that were read beyond it are compared with what
 * they were, outwards, and the walk goes on from the first that differs. So its result is that of a whole walk.
 * Leaves the frames in t->frames; the result is how many of the outermost frames are those of the previous walk.
 */
static uint32_t walk(struct thread *t, uint64_t sp, uint64_t pc, uint64_t bp) {
  struct frame *walked = t->scratch, *old = t->frames;
  uint32_t fresh = 0, depth = 0;
  int64_t j = (int64_t)t->depth - 1;
#ifdef WHOLE_WALKS
  /* Tests compare these walks with the others. */
  j = -1;
#endif
  int result = STEPPED;
  walked[0] = (struct frame){ .sp = sp, .pc = pc, .bp = bp };
  for (;;) {
    struct frame *f = &walked[fresh];
    while (j >= 0 && old[j].sp < f->sp) j--;
    if (j >= 0 && old[j].sp == f->sp && old[j].pc == f->pc && old[j].bp == f->bp) {
      int64_t k = j;
      for (; k > 0; k--) {
        const struct frame *from = &old[k], *to = &old[k - 1];
        if (!from->checkable || *(uint64_t *)(to->sp - 8) != to->pc) break;
        if (from->bp_at != 0 && *(uint64_t *)from->bp_at != to->bp) break;
      }
      if (k == 0) {
        /* How the outermost frame ended follows from words that may have changed, too, so it is stepped again. */
        struct frame last = old[0], beyond;
        result = step(t, &last, &beyond);
        if (result != STEPPED && fresh + (uint32_t)j + 1 <= max_depth) {
          depth = (uint32_t)j + 1;
          goto join;
        }
      }
      int64_t i = j;
      for (; i > k && fresh + 1 < max_depth; i--) walked[fresh++] = old[i];
      walked[fresh] = old[i];
      j = i - 1;
      f = &walked[fresh];
    }
    if (fresh + 1 >= max_depth) {
      fresh++;
      /* The walk of the next call must not take the rest of this one for its end. */
      result = SHORT;
      break;
    }
    result = step(t, f, &walked[fresh + 1]);
    fresh++;
    if (result != STEPPED) break;
  }
join:;
  uint32_t same = depth;
  int is_same = 1;
  for (uint32_t i = fresh; i-- > 0; depth++) {
    is_same = is_same && depth < t->depth && old[depth].pc == walked[i].pc;
    if (is_same) same++;
    old[depth] = walked[i];
  }
  t->depth = depth;
  if (t->is_short != (result == SHORT)) same = 0;
  t->is_short = result == SHORT;
  return same;
}

/*
 * Walks the stack of a call from our own frame: the caller's rbp, and the return address. Returns as walk does; no
 * frames are left where there is no stack to walk.
 */
static inline uint32_t walk_from(struct thread *t, const uint64_t *own) {
  uint64_t sp = (uint64_t)(own + 2);
  uint32_t current = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
  if (unlikely(t->generation != current)) {
    t->generation = current;
    t->depth = t->module_count = 0;
    memset(t->rules, 0, sizeof t->rules);
  }
  if (unlikely(sp < t->low || sp >= t->high) && !find_stack(t, sp)) {
    t->depth = 0;
    t->is_short = 1;
    return 0;
  }
  return walk(t, sp, own[1], own[0]);
}

#endif
