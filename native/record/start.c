/*
 * Makes a program write glibc's mtrace from its start to its end. hf-record compiles this to a shared object, and
 * preloads it after libc_malloc_debug.so.0, in which mtrace() is since glibc 2.34.
 *
 * MALLOC_TRACE names the file to write. HEAPFLOW_LD_PRELOAD, if it is set, is what LD_PRELOAD was before. Neither
 * reaches the programs that this one starts: only the program itself is traced, and not the children that it forks. If
 * it forks, an empty file is made whose name is that of the trace and ".forked".
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <mcheck.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The descriptor that mtrace() writes to, or -1. */
static int trace = -1;
/* What that descriptor was opened for: the program may close it, and open another under its number. */
static struct stat pipe_stat;

/* The file that says that the program forked; empty when it was made. */
static char mark[PATH_MAX];

/* Below this number no descriptor is given to the trace, if possible: programs close and reuse low ones. */
enum { LOW = 200 };

static int is_pipe(int fd) {
  struct stat now;
  return fstat(fd, &now) == 0 && now.st_dev == pipe_stat.st_dev && now.st_ino == pipe_stat.st_ino;
}

/* In a process that forked. */
static void note(void) {
  if (mark[0] == 0) return;
  int fd = open(mark, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (fd >= 0) close(fd);
  mark[0] = 0;
}

/* In a forked child: what its copy of the trace's buffer holds belongs to the parent, so it goes nowhere. */
static void leave(void) {
  if (trace < 0) return;
  if (!is_pipe(trace)) {
    /* What is in the buffer would go into a file of the program. */
    trace = -1;
    return;
  }
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
  if (path == NULL || stat(path, &pipe_stat) != 0) return;
  const char *preload = getenv("HEAPFLOW_LD_PRELOAD");
  if (preload == NULL) {
    unsetenv("LD_PRELOAD");
  } else {
    setenv("LD_PRELOAD", preload, 1);
    unsetenv("HEAPFLOW_LD_PRELOAD");
  }
  /* mtrace() does not say which descriptor it opens, but it is the lowest that is free: the low ones are held. */
  int held[LOW], count = 0, next;
  while ((next = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0 && next < LOW) held[count++] = next;
  /* Where so many may not be open, the last one is given back. */
  if (next < 0 && count > 0) next = held[--count];
  if (next >= 0) close(next);
  mtrace();
  while (count > 0) close(held[--count]);
  if (next >= 0 && is_pipe(next)) {
    trace = next;
    if (snprintf(mark, sizeof mark, "%s.forked", path) >= (int)sizeof mark) mark[0] = 0;
    pthread_atfork(NULL, note, leave);
    /* The first line goes out at once: a trace without it is one that never began. */
    fflush(NULL);
  }
  unsetenv("MALLOC_TRACE");
}

/* Writes what is in the buffer, and the end mark. */
__attribute__((destructor)) static void end(void) {
  if (trace >= 0 && is_pipe(trace)) muntrace();
}
