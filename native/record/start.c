/*
 * Makes a program write glibc's mtrace from its start to its end. hf-record compiles this to a shared object, and
 * preloads it after libc_malloc_debug.so.0, in which mtrace() is since glibc 2.34.
 *
 * MALLOC_TRACE names the file to write. HEAPFLOW_LD_PRELOAD, if it is set, is what LD_PRELOAD was before. Neither
 * reaches the programs that this one starts: only the program itself is traced, and not the children that it forks.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mcheck.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The descriptor that mtrace() writes to, or -1. */
static int trace = -1;

/* In a forked child: what its copy of the trace's buffer holds belongs to the parent, so it goes nowhere. */
static void leave(void) {
  if (trace < 0) return;
  int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) {
    close(trace);
  } else {
    dup3(nowhere, trace, O_CLOEXEC);
    close(nowhere);
  }
  muntrace();
  trace = -1;
}

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("MALLOC_TRACE");
  struct stat wanted, opened;
  if (path == NULL || stat(path, &wanted) != 0) return;
  const char *preload = getenv("HEAPFLOW_LD_PRELOAD");
  if (preload == NULL) {
    unsetenv("LD_PRELOAD");
  } else {
    setenv("LD_PRELOAD", preload, 1);
    unsetenv("HEAPFLOW_LD_PRELOAD");
  }
  /* mtrace() does not say which descriptor it opens, but it is the lowest that is free. */
  int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (next >= 0) close(next);
  mtrace();
  if (next >= 0 && fstat(next, &opened) == 0 && opened.st_dev == wanted.st_dev && opened.st_ino == wanted.st_ino) {
    trace = next;
    pthread_atfork(NULL, NULL, leave);
    /* The first line goes out at once: a trace without it is one that never began. */
    fflush(NULL);
  }
  unsetenv("MALLOC_TRACE");
}

/* Writes what is in the buffer, and the end mark. */
__attribute__((destructor)) static void end(void) {
  if (trace >= 0) muntrace();
}
