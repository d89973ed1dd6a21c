import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { installedAllocators } from '../../../lib/cli/drive/allocators.js'
import { REPLAY_DRIVER } from '../../../lib/cli/drive/runs.js'
import type { Run } from '../../../lib/cli/drive/runs.js'

/** Whether the driver can be compiled and run. */
export const canDrive = process.platform === 'linux' && spawnSync('cc', ['--version']).error === undefined

/** The allocators that are installed, with the one of the C library. */
export const ALLOCATORS = canDrive ? installedAllocators() : []

/** A library that counts the calls of the program itself, by kind and size, and writes them at the end. */
export const COUNTER = `#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t), __libc_free(void *);
struct row { size_t size, count; int kind, lock; };
static struct row rows[1 << 18];
static char *from, *to;
/* The calls of pthread_create are not the program's. */
static __attribute__((constructor)) void begin(void) {
  char text[65536], exe[4096], *line;
  int fd = open("/proc/self/maps", O_RDONLY), length = 0, n;
  while ((n = read(fd, text + length, sizeof text - 1 - length)) > 0) length += n;
  text[length] = 0;
  close(fd);
  exe[readlink("/proc/self/exe", exe, sizeof exe - 1)] = 0;
  for (line = strtok(text, "\\n"); line; line = strtok(NULL, "\\n")) {
    unsigned long a, b;
    if (!strstr(line, exe) || sscanf(line, "%lx-%lx", &a, &b) != 2) continue;
    if (!from) from = (char *)a;
    to = (char *)b;
  }
}
static void count(int kind, size_t size, char *caller) {
  if (caller < from || caller >= to) return;
  for (size_t i = (size * 0x9E3779B97F4A7C15u + kind) >> 40 & 0x3ffff;; i = (i + 1) & 0x3ffff) {
    struct row *row = rows + i;
    while (__atomic_exchange_n(&row->lock, 1, __ATOMIC_ACQUIRE)) continue;
    int is_it = row->kind == 0 || (row->kind == kind && row->size == size);
    if (is_it) row->kind = kind, row->size = size, row->count++;
    __atomic_store_n(&row->lock, 0, __ATOMIC_RELEASE);
    if (is_it) return;
  }
}
#define CALLER ((char *)__builtin_return_address(0))
void *malloc(size_t n) { count(1, n, CALLER); return __libc_malloc(n); }
void *calloc(size_t k, size_t n) { count(2, k * n, CALLER); return __libc_calloc(k, n); }
void *memalign(size_t a, size_t n) { count(3, n, CALLER); return __libc_memalign(a, n); }
int posix_memalign(void **p, size_t a, size_t n) {
  count(3, n, CALLER);
  return (*p = __libc_memalign(a, n)) ? 0 : 12;
}
void *realloc(void *p, size_t n) { count(4, n, CALLER); return __libc_realloc(p, n); }
void free(void *p) { count(5, 0, CALLER); __libc_free(p); }
static __attribute__((destructor)) void end(void) {
  int fd = open(getenv("COUNTS"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  write(fd, rows, sizeof rows);
}
void _exit(int status) {
  end();
  syscall(SYS_exit_group, status);
  __builtin_unreachable();
}
`

/** An allocator whose blocks overlap, and are misaligned. */
export const BROKEN = `#include <stddef.h>
#include <string.h>
static char memory[1 << 28];
static size_t next;
void *malloc(size_t n) { char *p = memory + next; next += n > 24 ? n - 9 : n + 1; return p; }
void *calloc(size_t k, size_t n) { return memset(malloc(k * n), 0, k * n); }
void *memalign(size_t a, size_t n) { (void)a; return malloc(n); }
void *realloc(void *p, size_t n) { void *q = malloc(n); if (p && n) memcpy(q, p, n); return q; }
void free(void *p) { (void)p; }
size_t malloc_usable_size(void *p) { (void)p; return 0; }
`

/** An allocator all of whose blocks after the hundredth are at one address. */
export const OVERLAPPING = `#include <stddef.h>
#include <string.h>
static char memory[1 << 28];
static size_t next, count;
void *malloc(size_t n) {
  size_t at = next;
  if (++count > 100) return memory + (1 << 27);
  next += (n + 31) & ~(size_t)15;
  return memory + at;
}
void *calloc(size_t k, size_t n) { return memset(malloc(k * n), 0, k * n); }
void *memalign(size_t a, size_t n) { (void)a; return malloc(n); }
void *realloc(void *p, size_t n) { void *q = malloc(n); if (p && n) memcpy(q, p, n); return q; }
void free(void *p) { (void)p; }
`

/** An allocator that never has memory. */
export const EMPTY = `#include <stddef.h>
void *malloc(size_t n) { (void)n; return NULL; }
void *calloc(size_t k, size_t n) { (void)k, (void)n; return NULL; }
void *memalign(size_t a, size_t n) { (void)a, (void)n; return NULL; }
void *realloc(void *p, size_t n) { (void)p, (void)n; return NULL; }
void free(void *p) { (void)p; }
`

/** An allocator that prints before its first block; the process ends at the block with this number. */
export const talking = (last: number) => `#include <stddef.h>
#include <unistd.h>
extern void *__libc_malloc(size_t);
static int count;
void *malloc(size_t n) {
  if (count++ == 0) write(1, "hello\\n", 6);
  if (count == ${last}) _exit(0);
  return __libc_malloc(n);
}
`

const [source, ...headers] = REPLAY_DRIVER.sources
/** The sources of the driver. */
export const SOURCE = fileURLToPath(new URL(`../../../native/${source}`, import.meta.url))
export const HEADERS = headers

/** A folder for the tests of a file, which is removed after them. */
export function workFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'heapflow-drive-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const at = (name: string) => join(folder, name)
  return {
    at,
    write(name: string, bytes: Uint8Array | string): string {
      writeFileSync(at(name), bytes)
      return at(name)
    },
    /** Compiles the driver. @returns whether that was possible */
    driver(name: string, ...options: string[]): boolean {
      const words = [...REPLAY_DRIVER.options, ...options, '-o', at(name), SOURCE, ...(REPLAY_DRIVER.libraries ?? [])]
      return spawnSync('cc', words).status === 0
    },
    library(name: string, text: string): string {
      writeFileSync(at(`${name}.c`), text)
      execFileSync('cc', ['-w', '-O1', '-shared', '-fPIC', '-o', at(`${name}.so`), at(`${name}.c`)])
      return at(`${name}.so`)
    },
    /** Runs the driver. */
    run(program: string, words: readonly string[], env: NodeJS.ProcessEnv = {}) {
      const { LD_PRELOAD: _, ...rest } = process.env
      const options = { encoding: 'utf8', env: { ...rest, ...env }, timeout: 120_000 } as const
      const { status, signal, stdout, stderr } = spawnSync(at(program), words, options)
      return { status, signal, stderr, run: status === 0 ? (JSON.parse(stdout) as Run) : undefined }
    },
  }
}
