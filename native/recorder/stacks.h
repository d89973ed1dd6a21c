/*
 * Walks of the stack, by call frame information.
 */
#ifndef HEAPFLOW_RECORDER_STACKS_H
#define HEAPFLOW_RECORDER_STACKS_H

#include "objects.h"
#include "threads.h"

/* ---- modules and rules ---- */

/* The value of a note of an object, by the four bytes of its owner; NULL if it has none. */
static const uint8_t *note_of(const struct object *object, const char *owner, uint32_t wanted, uint32_t *length) {
  const ElfW(Ehdr) *head = (const void *)object->start;
  if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return NULL;
  const ElfW(Phdr) *parts = (const void *)(object->start + head->e_phoff);
  for (unsigned i = 0; i < head->e_phnum; i++) {
    if (parts[i].p_type != PT_NOTE) continue;
    const uint8_t *at = (const uint8_t *)(object->base + parts[i].p_vaddr), *end = at + parts[i].p_memsz;
    while (end - at >= 16) {
      uint32_t name, type;
      memcpy(&name, at, 4);
      memcpy(length, at + 4, 4);
      memcpy(&type, at + 8, 4);
      if (name > 64 || *length > 65536) break;
      const uint8_t *value = at + 12 + ((name + 3) & ~3u);
      if (type == wanted && name == 4 && memcmp(at + 12, owner, 4) == 0) return value;
      at = value + ((*length + 3) & ~3u);
    }
  }
  return NULL;
}

/* Reports a module that this thread meets for the first time. The reader recognizes those that it knows. */
static void report_module(struct thread *t, const struct object *object) {
  uint64_t start = object->start, end = object->end;
  for (uint32_t i = 0; i < t->module_count; i++)
    if (t->modules[i].low == start && t->modules[i].high == end) return;
  uint64_t text[(MAX_BUILD_ID + MAX_PATH) / 8];
  memset(text, 0, sizeof text);
  uint32_t id = 0;
  const uint8_t *build_id = note_of(object, "GNU", NT_GNU_BUILD_ID, &id);
  if (build_id != NULL && id <= MAX_BUILD_ID) memcpy(text, build_id, id);
  else id = 0;
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

/* The rule of code without information that is known by its instructions. Where no module is, memory may be missing. */
static void recognize(uint64_t pc, int is_module, struct rule *rule) {
  uint8_t code[KNOWN_BYTES + 1];
  int fd = KNOWN_BYTES == 0 ? -1 : open_file("/proc/self/mem", O_RDONLY);
  if (fd < 0) return;
  ssize_t n = syscall(SYS_pread64, fd, code, KNOWN_BYTES, pc & ~EXACT);
  close_file(fd);
  if (n > 0 && is_signal_return(code, (size_t)n)) rule->kind = RULE_SIGNAL;
  else if (n > 0 && is_module && (pc & EXACT) && is_jump(code, (size_t)n))
    *rule = (struct rule){ .kind = RULE_SP, .is_in_link = 1 };
}

static NOINLINE struct rule new_rule(struct thread *t, uint64_t pc, struct remembered *entry) {
  int error = errno;
  /* A return address may be that of the next function. */
  uint64_t at = (pc & ~EXACT) - !(pc & EXACT);
  struct object found;
  struct rule rule = { .kind = RULE_NONE };
  int result = object_at(at, &found), is_bare = 1;
  if (result == OBJECT) {
    report_module(t, &found);
    if (found.frames != NULL) rule = cf_rule(found.frames, at);
    /* Code of a module without information is no code of a JIT, which has frame pointers. That of Go has them. */
    is_bare = rule.kind == RULE_NONE;
    uint32_t length;
    if (is_bare) rule.kind = IS_RECORD_ON_TOP && note_of(&found, "Go\0", GO_BUILD_ID, &length) ? RULE_GO : RULE_UNKNOWN;
  }
  if (is_bare && result != NO_LIST) recognize(pc, result == OBJECT, &rule);
  /* makecontext of libc gives the first function of a stack such an address. */
  int is_start = is_bare && rule.kind == RULE_UNKNOWN && !(pc & EXACT) && found.frames != NULL;
  if (is_start && cf_rule(found.frames, pc).kind != RULE_NONE) rule.kind = RULE_START;
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

/* The stack of the first thread, when it was found. A forked process has the same. */
static struct range first_stack;

/*
 * What a stack pointer is in where the list of mappings cannot be read, as after chroot, or without a free descriptor.
 * The stack of a thread ends with the thread's own data: what is mapped from the stack pointer to there is the stack.
 */
static struct range stack_without_list(struct thread *t, uint64_t sp) {
  const uint64_t page = (uint64_t)getpagesize();
  struct range stack = { sp & ~(page - 1), t->pointer & ~7ull };
  if (sp < stack.high && (stack.high - stack.low) / page < sizeof t->scratch &&
      syscall(SYS_mincore, stack.low, stack.high - stack.low, t->scratch) == 0)
    return stack;
  /* The data of the first thread is below its stack. */
  return sp >= first_stack.low && sp < first_stack.high ? first_stack : (struct range){ 0, 0 };
}

/* Finds the mapping that contains a stack pointer. The list of mappings is read into the buffer. */
static NOINLINE int find_stack(struct thread *t, uint64_t sp, void *buffer, size_t size) {
  for (uint32_t i = 0; i < t->range_count; i++) {
    if (sp >= t->ranges[i].low && sp < t->ranges[i].high) {
      t->low = t->ranges[i].low;
      t->high = t->ranges[i].high;
      return 1;
    }
  }
  int error = errno;
  struct maps maps;
  struct mapping m;
  struct range stack = { 0, 0 };
  uint64_t end_before = 0;
  if (open_maps(&maps, buffer, size)) {
    for (; stack.high == 0 && next_mapping(&maps, &m); end_before = m.high) {
      if (sp < m.low || sp >= m.high || m.rights[0] != 'r' || m.rights[1] != 'w') continue;
      /* The stack of the first thread grows down to what is mapped below. */
      int is_first = strcmp(m.path, "[stack]") == 0;
      stack = (struct range){ is_first ? end_before : m.low, m.high };
      if (is_first) first_stack = stack;
    }
    close_maps(&maps);
  } else if (buffer == t->scratch) stack = stack_without_list(t, sp);
  errno = error;
  if (stack.high == 0) return 0;
  t->low = stack.low;
  t->high = stack.high;
  t->ranges[t->range_count < RANGES ? t->range_count++ : sp / 4096 % RANGES] = stack;
  return 1;
}

enum { STEPPED, ENDED, SHORT };

/*
 * A frame that was found by the frame pointer of what it called, where that does not give its stack pointer: it follows
 * from where its code stores the pair that its own frame pointer points to.
 */
static NOINLINE int settle(struct thread *t, struct frame *f) {
  struct rule rule = rule_at(t, f->pc);
  if (rule.kind == RULE_AT_SP || rule.kind == RULE_SIGNAL) return SHORT;
  if (rule.kind != RULE_SP) return STEPPED;
  if (rule.is_in_link || rule.fp_kind != FP_AT_CFA || rule.ra != rule.fp + 8) return SHORT;
  uint64_t sp = f->fp - (uint64_t)(int64_t)rule.fp - (uint64_t)(int64_t)rule.cfa;
  if (sp < f->sp || sp > t->high - 8 || (sp & 7)) return SHORT;
  f->sp = sp;
  return STEPPED;
}

/* To the frame that a signal interrupted, which may be on another stack. */
static inline int step_over_signal(struct thread *t, const struct frame *f, struct frame *caller) {
  if (f->sp + SIGNAL_FRAME_BYTES > t->high) return SHORT;
  struct interrupted at = interrupted_at(f->sp);
  *caller = (struct frame){ .sp = at.sp, .pc = at.pc | EXACT, .fp = at.fp };
  t->link = at.link;
  if (caller->sp >= t->low && caller->sp <= t->high - 8) return STEPPED;
  /* The bounds of that stack cannot be looked up here. */
  for (uint32_t i = 0; i < t->range_count; i++) {
    if (caller->sp < t->ranges[i].low || caller->sp >= t->ranges[i].high) continue;
    t->low = t->ranges[i].low;
    t->high = t->ranges[i].high;
    return STEPPED;
  }
  return SHORT;
}

/*
 * From code of Go to its caller by the frame pointer. Where Go calls C, it leaves the stack of the goroutine, and the
 * frame pointer stays there. What C has called has no such caller.
 */
static NOINLINE int step_in_go(struct thread *t, const struct frame *f, struct frame *caller) {
  char lines[PATH_MAX + 256];
  if (f->fp == 0) return ENDED;
  if ((f->fp & 7) || ((f->fp < t->low || f->fp >= t->high) && !find_stack(t, f->fp, lines, sizeof lines))) return SHORT;
  if (f->fp > t->high - 16) return SHORT;
  const uint64_t *pair = (const uint64_t *)f->fp;
  *caller = (struct frame){ .sp = f->fp + 16, .pc = pair[1], .fp = pair[0] };
  if (caller->pc == 0) return ENDED;
  return rule_at(t, caller->pc).kind == RULE_GO ? STEPPED : SHORT;
}

/* From a frame to its caller. */
static inline int step(struct thread *t, struct frame *f, struct frame *caller) {
  struct rule rule = rule_at(t, f->pc);
  uint64_t cfa = 0, at;
  int is_checkable = 1, is_guess = 0;
  f->fp_at = f->pc_at = 0;
  /* Most rules are this one; the jump of a switch is often predicted wrongly. */
  if (likely(rule.kind == RULE_SP)) cfa = f->sp + (uint64_t)(int64_t)rule.cfa;
  else switch (rule.kind) {
    case RULE_NONE:
      rule = (struct rule){ RULE_FP, FP_AT_CFA, 0, 16, -16, -8 };
      cfa = f->fp + 16;
      is_guess = 1;
      break;
    case RULE_FP: cfa = f->fp + (uint64_t)(int64_t)rule.cfa; break;
    case RULE_AT_SP: case RULE_AT_FP:
      at = (rule.kind == RULE_AT_SP ? f->sp : f->fp) + (uint64_t)(int64_t)rule.cfa;
      if (at < f->sp || at > t->high - 8 || (at & 7)) return SHORT;
      cfa = *(uint64_t *)at;
      is_checkable = 0;
      break;
    case RULE_GO: return step_in_go(t, f, caller);
    case RULE_SIGNAL: return step_over_signal(t, f, caller);
    case RULE_START: f->pc |= EXACT; return ENDED;
    case RULE_END: return ENDED;
    default: return SHORT;
  }
  if (cfa < f->sp || (cfa == f->sp && !rule.is_in_link) || cfa > t->high || (cfa & 7)) return SHORT;
  caller->sp = cfa;
  if (HAS_LINK && rule.is_in_link) {
    /* A function that has called another one has stored it. */
    if (!(f->pc & EXACT)) return SHORT;
    caller->pc = t->link;
  } else {
    at = cfa + (uint64_t)(int64_t)rule.ra;
    if (at < f->sp || at > t->high - 8 || (at & 7)) return SHORT;
    caller->pc = return_address(*(uint64_t *)at);
    if (is_checkable) f->pc_at = at;
  }
  caller->fp = f->fp;
  if (rule.fp_kind != FP_SAME) {
    at = (rule.fp_kind == FP_AT_CFA ? cfa : f->fp) + (uint64_t)(int64_t)rule.fp;
    if (at + 8 < f->sp || at > t->high - 8 || (at & 7)) return SHORT;
    caller->fp = *(uint64_t *)at;
    f->fp_at = at;
  }
  if (caller->pc == 0) return ENDED;
  return !IS_RECORD_ON_TOP && is_guess ? settle(t, caller) : STEPPED;
}

/*
 * Walks the stack from the caller of the allocator. A walk is a function of the registers, the rules, and the words
 * that it reads. Where it meets a frame of the previous walk, the words that were read beyond it are compared with what
 * they were, outwards, and the walk goes on from the first that differs. So its result is that of a whole walk.
 * Leaves the frames in t->frames; the result is how many of the outermost frames are those of the previous walk.
 */
static uint32_t walk(struct thread *t, uint64_t sp, uint64_t pc, uint64_t fp) {
  struct frame *walked = t->scratch, *old = t->frames;
  uint32_t fresh = 0, depth = 0;
  int64_t j = (int64_t)t->depth - 1;
#ifdef WHOLE_WALKS
  /* Tests compare these walks with the others. */
  j = -1;
#endif
  int result = STEPPED;
  walked[0] = (struct frame){ .sp = sp, .pc = pc, .fp = fp };
  for (;;) {
    struct frame *f = &walked[fresh];
    while (j >= 0 && old[j].sp < f->sp) j--;
    if (j >= 0 && old[j].sp == f->sp && old[j].pc == f->pc && old[j].fp == f->fp) {
      int64_t k = j;
      for (; k > 0; k--) {
        const struct frame *from = &old[k], *to = &old[k - 1];
        if (from->pc_at == 0 || return_address(*(uint64_t *)from->pc_at) != to->pc) break;
        if (from->fp_at != 0 && *(uint64_t *)from->fp_at != to->fp) break;
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
      /* The search for a rule notes the module, which the last frame needs, too. */
      (void)rule_at(t, f->pc);
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
 * Walks the stack of a call from our own frame: the caller's frame pointer, and the return address. Returns as walk
 * does; no frames are left where there is no stack to walk.
 */
static inline uint32_t walk_from(struct thread *t, const uint64_t *own) {
  uint64_t sp = (uint64_t)(own + 2);
  uint32_t current = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
  if (unlikely(t->generation != current)) {
    t->generation = current;
    t->depth = t->module_count = 0;
    memset(t->rules, 0, sizeof t->rules);
  }
  if (unlikely(sp < t->low || sp >= t->high) && !find_stack(t, sp, t->scratch, sizeof t->scratch)) {
    /* The scratch frames are not in use. */
    t->depth = 0;
    t->is_short = 1;
    return 0;
  }
  return walk(t, sp, own[1], own[0]);
}

#endif
