/*
 * The functions for bytes that the library needs. Those of libc are chosen by the dynamic linker for the processor,
 * which has no part in loading the library into a process that runs; and a program may have its own.
 */
#ifndef HEAPFLOW_RECORDER_BYTES_H
#define HEAPFLOW_RECORDER_BYTES_H

#include <stddef.h>
#include <stdint.h>

#define OWN_BYTES __attribute__((visibility("hidden"), noinline))
/* Keeps a compiler from making a call of the function of the loop. */
#define IS_LOOP __asm__ volatile("" ::: "memory")

OWN_BYTES void *memset(void *to, int value, size_t n) {
  unsigned char *p = to, *end = p + n;
  uint64_t word = (uint64_t)0x0101010101010101u * (unsigned char)value;
  for (; p < end && ((uintptr_t)p & 7) != 0; p++) { *p = (unsigned char)value; IS_LOOP; }
  for (; end - p >= 8; p += 8) { *(uint64_t *)(void *)p = word; IS_LOOP; }
  for (; p < end; p++) { *p = (unsigned char)value; IS_LOOP; }
  return to;
}

OWN_BYTES void *memcpy(void *restrict to, const void *restrict from, size_t n) {
  unsigned char *p = to;
  const unsigned char *q = from;
  for (size_t i = 0; i < n; i++) { p[i] = q[i]; IS_LOOP; }
  return to;
}

OWN_BYTES void *memmove(void *to, const void *from, size_t n) {
  unsigned char *p = to;
  const unsigned char *q = from;
  if (p <= q) for (size_t i = 0; i < n; i++) { p[i] = q[i]; IS_LOOP; }
  else for (size_t i = n; i-- > 0;) { p[i] = q[i]; IS_LOOP; }
  return to;
}

OWN_BYTES int memcmp(const void *a, const void *b, size_t n) {
  const unsigned char *p = a, *q = b;
  for (size_t i = 0; i < n; i++) { if (p[i] != q[i]) return p[i] - q[i]; IS_LOOP; }
  return 0;
}

/* Compilers may call it instead, where only equality is asked for. */
OWN_BYTES int bcmp(const void *a, const void *b, size_t n) { return memcmp(a, b, n); }

OWN_BYTES size_t strlen(const char *text) {
  size_t n = 0;
  for (; text[n] != 0; n++) IS_LOOP;
  return n;
}

OWN_BYTES size_t strnlen(const char *text, size_t most) {
  size_t n = 0;
  for (; n < most && text[n] != 0; n++) IS_LOOP;
  return n;
}

OWN_BYTES int strcmp(const char *a, const char *b) {
  for (; *a != 0 && *a == *b; a++, b++) IS_LOOP;
  return (unsigned char)*a - (unsigned char)*b;
}

OWN_BYTES char *strchr(const char *text, int c) {
  for (; *text != (char)c; text++) { if (*text == 0) return NULL; IS_LOOP; }
  return (char *)(uintptr_t)text;
}

OWN_BYTES char *strrchr(const char *text, int c) {
  const char *found = NULL;
  for (;; text++) {
    if (*text == (char)c) found = text;
    if (*text == 0) return (char *)(uintptr_t)found;
    IS_LOOP;
  }
}

OWN_BYTES char *strstr(const char *text, const char *part) {
  size_t n = strlen(part);
  for (; *text != 0; text++) if (strnlen(text, n) == n && memcmp(text, part, n) == 0) return (char *)(uintptr_t)text;
  return n == 0 ? (char *)(uintptr_t)text : NULL;
}

#endif
