/*
 * Writes the format "recorder": numbers of 7 bits a byte, differences where these are smaller, and each frame and stack
 * once. See lib/formats/recorder/README.md.
 */
#ifndef HEAPFLOW_RECORDER_PACK_H
#define HEAPFLOW_RECORDER_PACK_H

#include "output.h"
#include "process.h"

enum {
  T_PROCESS = 1, T_MODULE, T_FRAME, T_NODE, T_THREAD, T_LOST, T_END,
  E_MALLOC, E_CALLOC, E_ALIGNED, E_NEW_REALLOC, E_REALLOC, E_FREE, E_RELEASED, E_KEPT,
  T_CHILD, T_SWITCH, T_UNLOADED, T_NAME, E_EXISTING, E_FREE_STACK, E_RESIDENT,
  E_PROCESS_END, E_THREAD_END, T_ATTACHED,
  SAME_STACK = 0x80,
};

static uint64_t events;
/* What differences are from. */
static uint64_t last_time, last_address, last_frame;
static uint32_t last_node, last_tid, last_process, process_count;
static struct known_module *known_modules;
static size_t known_count;
/* Frames by offset and module, and stacks by frame and parent. */
static struct table frames, nodes;
static uint32_t frame_count, node_count;

/* Begins the file. */
static int pack_open(const char *path, int is_compressed) {
  static const uint8_t magic[8] = { 0x89, 'H', 'F', 'R', 'E', 'C', '\n', 2 };
  if (!open_output(path, is_compressed)) return 0;
  put_bytes(magic, sizeof magic);
  return 1;
}

static void put_command(const char *text, uint32_t length) {
  char command[MAX_COMMAND];
  if (length > MAX_COMMAND) length = MAX_COMMAND;
  while (length > 0 && text[length - 1] == 0) length--;
  for (uint32_t i = 0; i < length; i++) command[i] = text[i] == 0 ? ' ' : text[i];
  put_number(length);
  put_bytes(command, length);
}

/* The first process begins the trace; `command` are words that end with 0 each. */
static void pack_first(struct process *p, const char *command, uint32_t length) {
  p->number = last_process = process_count = 1;
  begin_record(T_PROCESS);
  put_number(p->pid);
  put_command(command, length);
}

/* The process ran already when its recording began, for so many ms. */
static void pack_attached(uint64_t age) {
  begin_record(T_ATTACHED);
  put_number(age);
}

/* Times of threads differ by less than the time that a call takes; the order of events is that of their numbers. */
static void put_time(uint64_t time) {
  if (time < last_time) time = last_time;
  put_number(time - last_time);
  last_time = time;
}

/* A process that has ended, and since when that is known, if nothing was written since: the trace may end with it. */
static uint32_t ended_process;
static uint64_t ended_time;

static void pack_ended(void) {
  if (ended_process == 0) return;
  if (ended_process != last_process) {
    begin_record(T_SWITCH);
    put_number(ended_process);
  }
  last_process = ended_process;
  ended_process = 0;
  begin_record(E_PROCESS_END);
  put_time(ended_time);
  events++;
}

/* The process, which has ended after all of its events, or become another program. */
static void pack_process_end(const struct process *p, uint64_t time) {
  if (p->number == 0) return;
  pack_ended();
  ended_process = p->number;
  ended_time = time;
}

/* What follows is of this process. */
static void pack_switch(struct process *p) {
  pack_ended();
  if (p->number == last_process) return;
  if (p->number == 0) {
    p->number = ++process_count;
    begin_record(T_CHILD);
    put_number(p->pid);
    put_number(p->parent);
    put_number((uint64_t)p->how);
    put_command(p->region->command, p->region->command_length);
  } else {
    begin_record(T_SWITCH);
    put_number(p->number);
  }
  last_process = p->number;
}

static void forget_frames(struct process *p) {
  memset(p->cache, 0, sizeof p->cache);
  memset(p->cached_nodes, 0, sizeof p->cached_nodes);
}

/* The module with this build id and path, which is written when it is met for the first time. */
static struct known_module *module_of(struct process *p, uint64_t base, const uint8_t *text, uint64_t id, uint64_t path) {
  for (size_t i = 0; i < known_count; i++) {
    struct known_module *m = &known_modules[i];
    if (m->id_length == id && m->path_length == path && memcmp(m->text, text, id + path) == 0) return m;
  }
  known_modules = allocate(known_modules, (known_count + 1) * sizeof *known_modules);
  struct known_module *m = &known_modules[known_count++];
  *m = (struct known_module){ base, (uint32_t)known_count, (uint32_t)id, (uint32_t)path, NULL };
  m->text = allocate(NULL, id + path + 1);
  memcpy(m->text, text, id + path);
  pack_switch(p);
  begin_record(T_MODULE);
  put_number(base);
  put_number(id);
  put_bytes(text, id);
  put_number(path);
  put_bytes(text + id, path);
  return m;
}

static void pack_module(struct process *p, uint64_t base, uint64_t start, uint64_t end, const uint8_t *text,
                        uint64_t id, uint64_t path) {
  if (id > MAX_BUILD_ID || path > MAX_PATH) return;
  uint32_t number = module_of(p, base, text, id, path)->number;
  size_t kept = 0;
  for (size_t i = 0; i < p->module_count; i++) {
    struct module *m = &p->modules[i];
    if (m->base == base && m->start == start && m->end == end && m->number == number) return;
  }
  for (size_t i = 0; i < p->module_count; i++)
    if (p->modules[i].start >= end || start >= p->modules[i].end) p->modules[kept++] = p->modules[i];
  /* Addresses may have other meanings now. The stacks of threads stay what they were. */
  forget_frames(p);
  p->modules = allocate(p->modules, (kept + 1) * sizeof *p->modules);
  p->modules[kept] = (struct module){ base, start, end, number };
  p->module_count = kept + 1;
}

static void pack_unloaded(struct process *p, uint64_t start) {
  for (size_t i = 0; i < p->module_count; i++) {
    if (p->modules[i].start != start) continue;
    pack_switch(p);
    begin_record(T_UNLOADED);
    put_number(p->modules[i].number);
    p->modules[i] = p->modules[--p->module_count];
    forget_frames(p);
    return;
  }
}

static uint32_t frame_at(struct process *p, uint64_t pc) {
  struct cached *cached = &p->cache[hash(pc, 0) & (CACHED - 1)];
  if (cached->pc == pc) return cached->frame;
  /* The call, and not what follows it, unless the instruction was interrupted. */
  uint64_t address = pc >> 63 ? pc & ~((uint64_t)1 << 63) : pc - 1;
  uint32_t module = 0;
  for (size_t i = 0; i < p->module_count; i++) {
    const struct module *m = &p->modules[i];
    if (address < m->start || address >= m->end) continue;
    module = m->number;
    /* As in the process in which the module was met first. */
    address += known_modules[module - 1].base - m->base;
    break;
  }
  struct entry *entry = entry_of(&frames, address, module);
  if (entry->number == 0) {
    entry->number = ++frame_count;
    begin_record(T_FRAME);
    put_number(module);
    put_difference(address, last_frame);
    last_frame = address;
  }
  *cached = (struct cached){ pc, entry->number };
  return entry->number;
}

/* The node of a frame below a parent. */
static uint32_t node_at(struct process *p, uint64_t pc, uint32_t parent) {
  struct cached_node *cached = &p->cached_nodes[hash(pc, parent) & (CACHED_NODES - 1)];
  if (cached->node != 0 && cached->pc == pc && cached->parent == parent) return cached->node;
  /* A frame of 0 is that of a walk that ended early. */
  uint32_t frame = pc == 0 ? 0 : frame_at(p, pc);
  struct entry *entry = entry_of(&nodes, frame, parent);
  if (entry->number == 0) {
    entry->number = ++node_count;
    begin_record(T_NODE);
    put_number(frame);
    put_number(node_count - parent);
  }
  *cached = (struct cached_node){ pc, parent, entry->number };
  return entry->number;
}

/* Brings the stack of a slot up to date. Returns its node. The program may have written over what the ring says. */
static uint32_t pack_stack(struct process *p, uint32_t slot, uint32_t same, const uint64_t *fresh, uint32_t count) {
  if (p->stacks[slot] == NULL) p->stacks[slot] = allocate(NULL, (MAX_DEPTH + 1) * sizeof **p->stacks);
  uint32_t depth = same < p->depths[slot] ? same : p->depths[slot];
  if (count > MAX_DEPTH + 1 - depth) count = MAX_DEPTH + 1 - depth;
  for (uint32_t i = 0; i < count; i++, depth++) {
    p->stacks[slot][depth] = node_at(p, fresh[i], depth == 0 ? 0 : p->stacks[slot][depth - 1]);
  }
  p->depths[slot] = depth;
  return depth == 0 ? 0 : p->stacks[slot][depth - 1];
}

static void pack_thread(struct process *p, uint32_t tid) {
  pack_switch(p);
  if (tid == last_tid) return;
  last_tid = tid;
  begin_record(T_THREAD);
  put_number(tid);
}

static void put_address(uint64_t address) {
  put_difference(address, last_address);
  last_address = address;
}

static void pack_alloc(uint8_t tag, const uint64_t *record, uint32_t node) {
  uint64_t size = record[4], usable = record[5], value = record[6];
  begin_record(node == last_node ? tag | SAME_STACK : tag);
  put_time(record[2]);
  put_address(record[3]);
  put_number(size);
  put_number(usable < size ? 0 : usable - size);
  if (node != last_node) put_difference(node, last_node);
  last_node = node;
  if (tag == E_CALLOC || tag == E_ALIGNED) put_number(value);
  if (tag == E_REALLOC) put_difference(value, record[3]);
  events++;
}

static void pack_free(uint8_t tag, uint64_t time, uint64_t address) {
  begin_record(tag);
  put_time(time);
  put_address(address);
  events++;
}

/* A block that the process had before, which it frees now. */
static void pack_existing(uint64_t time, uint64_t address, uint64_t size) {
  pack_free(E_EXISTING, time, address);
  put_number(size);
}

static void pack_free_stack(uint64_t time, uint64_t address, uint32_t node) {
  pack_free(node == last_node ? E_FREE_STACK | SAME_STACK : E_FREE_STACK, time, address);
  if (node != last_node) put_difference(node, last_node);
  last_node = node;
}

static void pack_thread_end(struct process *p, uint32_t tid, uint64_t time) {
  pack_thread(p, tid);
  begin_record(E_THREAD_END);
  put_time(time);
  events++;
}

static void pack_resident(struct process *p, uint64_t time, uint64_t bytes) {
  pack_switch(p);
  begin_record(E_RESIDENT);
  put_time(time);
  put_number(bytes);
  events++;
}

/* What the current thread is called. */
static void pack_name(const struct name *name) {
  uint32_t length = (uint32_t)strnlen(name->text, sizeof name->text);
  begin_record(T_NAME);
  put_number(length);
  put_bytes(name->text, length);
}

static void pack_lost(struct process *p, uint32_t tid, uint64_t count) {
  pack_thread(p, tid);
  begin_record(T_LOST);
  put_number(count);
  events++;
}

/* How the program ended, or that it did not. */
enum { EXITED, SIGNALLED, RUNS_ON };

static void pack_end(int kind, uint64_t value) {
  begin_record(T_END);
  put_number((uint64_t)kind);
  put_number(value);
  put_number(events);
  end_output(events);
}

#endif
