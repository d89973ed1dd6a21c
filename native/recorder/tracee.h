/*
 * A process that runs already: its threads are stopped by ptrace, its memory is read and written, and it makes calls of
 * the system. No code of the program and of its libraries runs meanwhile, so that it does not matter what they were
 * doing, and which locks they hold.
 */
#ifndef HEAPFLOW_RECORDER_TRACEE_H
#define HEAPFLOW_RECORDER_TRACEE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "machine/x86-64-calls.h"
#include "tables.h"

/* How long a thread may take to stop. */
#define STOP_NS 10000000000u

struct tracee {
  pid_t pid;
  pid_t *threads;
  size_t count;
  /* The thread that makes calls, and its registers and blocked signals before that. */
  pid_t worker;
  struct user_regs_struct saved;
  uint64_t mask;
  /* Where an instruction for system calls is. */
  uint64_t instruction;
  int memory_fd;
  /* A signal that cannot be blocked came during a call. */
  int stop_signal;
};

/* Why something failed, in one sentence. */
static char failure[1024];

__attribute__((format(printf, 1, 2))) static int fail(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(failure, sizeof failure, format, list);
  va_end(list);
  return 0;
}

/* Reads the file of a process, which ends with 0 then. Returns its length, -1 for none. */
static ssize_t read_of(pid_t pid, const char *name, char *text, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  size_t used = 0;
  ssize_t n;
  while (used < size - 1 && (n = read(fd, text + used, size - 1 - used)) > 0) used += (size_t)n;
  close(fd);
  text[used] = 0;
  return (ssize_t)used;
}

/* A number of the file "status", in a base; -1 if there is none. */
static long long status_number(pid_t pid, const char *field, int base) {
  char text[8192];
  if (read_of(pid, "status", text, sizeof text) < 0) return -1;
  for (char *line = text; line != NULL; line = strchr(line, '\n')) {
    if (*line == '\n') line++;
    size_t n = strlen(field);
    if (strncmp(line, field, n) == 0 && line[n] == ':') return (long long)strtoull(line + n + 1, NULL, base);
  }
  return -1;
}

static int read_memory(const struct tracee *t, uint64_t at, void *bytes, size_t n) {
  return pread(t->memory_fd, bytes, n, (off_t)at) == (ssize_t)n;
}

static int write_memory(const struct tracee *t, uint64_t at, const void *bytes, size_t n) {
  return pwrite(t->memory_fd, bytes, n, (off_t)at) == (ssize_t)n;
}

static uint64_t monotonic(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Waits for a change of a thread. Returns 0 if there is none in time, or the thread is gone. */
static int wait_for(pid_t tid, int *status) {
  uint64_t begin = monotonic();
  for (long pause = 10000; monotonic() - begin < STOP_NS; pause = pause < 2000000 ? pause * 2 : pause) {
    pid_t found = waitpid(tid, status, __WALL | WNOHANG);
    if (found == tid) return WIFSTOPPED(*status);
    if (found < 0 && errno != EINTR) return 0;
    struct timespec time = { 0, pause };
    nanosleep(&time, NULL);
  }
  return 0;
}

/* Waits until a thread that was interrupted has stopped. Signals that come first are delivered. */
static int wait_stopped(pid_t tid) {
  int status;
  while (wait_for(tid, &status)) {
    if (status >> 16 == PTRACE_EVENT_STOP) return 1;
    long signal = WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);
    if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0 || ptrace(PTRACE_CONT, tid, NULL, signal) < 0) return 0;
  }
  return 0;
}

static int is_known(const struct tracee *t, pid_t tid) {
  for (size_t i = 0; i < t->count; i++) if (t->threads[i] == tid) return 1;
  return 0;
}

/*
 * Stops a thread. Returns 0 if the system refuses that. A thread that has ended is passed over: the main thread of a
 * process may end before the others.
 */
static int stop_thread(struct tracee *t, pid_t tid) {
  char state[64], name[64];
  if (ptrace(PTRACE_SEIZE, tid, NULL, PTRACE_O_TRACESYSGOOD) < 0) {
    int error = errno;
    snprintf(name, sizeof name, "task/%d/stat", tid);
    char text[1024];
    const char *end = read_of(t->pid, name, text, sizeof text) > 0 ? strrchr(text, ')') : NULL;
    snprintf(state, sizeof state, "%s", end != NULL ? end + 1 : "");
    errno = error;
    return error == ESRCH || state[0] == 0 || state[1] == 'Z' || state[1] == 'X';
  }
  if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0 || !wait_stopped(tid)) {
    /* It has ended, or does not stop; then it is let go. */
    ptrace(PTRACE_DETACH, tid, NULL, NULL);
    snprintf(name, sizeof name, "task/%d/stat", tid);
    if (read_of(t->pid, name, state, sizeof state) < 0) return 1;
    errno = EBUSY;
    return 0;
  }
  t->threads = allocate(t->threads, (t->count + 1) * sizeof *t->threads);
  t->threads[t->count++] = tid;
  return 1;
}

/*
 * Some system calls fail with EINTR when a thread is stopped, although it gets no signal; the kernel makes all others
 * again by itself (signal(7), "Interruption of system calls and library functions by stop signals"). These are made
 * again here, unless there is a signal to deliver.
 */
static void make_again(const struct tracee *t, pid_t tid) {
  struct user_regs_struct regs;
  if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) < 0 || !is_interrupted_call(&regs)) return;
  long long blocked = status_number(tid, "SigBlk", 16);
  if (((status_number(tid, "SigPnd", 16) | status_number(t->pid, "ShdPnd", 16)) & ~blocked) != 0) return;
  repeat_call(&regs);
  ptrace(PTRACE_SETREGS, tid, NULL, &regs);
}

static void let_go(struct tracee *t) {
  for (size_t i = 0; i < t->count; i++) {
    make_again(t, t->threads[i]);
    ptrace(PTRACE_DETACH, t->threads[i], NULL, NULL);
  }
  if (t->stop_signal != 0) kill(t->pid, t->stop_signal);
  free(t->threads);
  if (t->memory_fd >= 0) close(t->memory_fd);
  *t = (struct tracee){ .pid = t->pid, .memory_fd = -1 };
}

/* Why a process cannot be attached to, by the error of ptrace. */
static int fail_to_stop(pid_t pid, int error) {
  char text[16];
  if (error == EBUSY) return fail("process %d does not stop: one of its threads waits for a device or a file system", pid);
  long long uid = status_number(pid, "Uid", 10);
  if (uid >= 0 && geteuid() != 0 && uid != (long long)geteuid())
    return fail("process %d is one of another user: run hf-record as that user, or as root", pid);
  int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  text[n > 0 ? n : 0] = 0;
  if (text[0] >= '1' && text[0] <= '9')
    return fail("this system does not allow to attach to process %d (kernel.yama.ptrace_scope is %c): run hf-record as "
                "root, or set that to 0 as root", pid, text[0]);
  return fail("this system does not allow to attach to process %d (%s): it takes CAP_SYS_PTRACE", pid, strerror(error));
}

/* Stops all threads of a process. If that fails, it goes on. */
static int stop_all(struct tracee *t, pid_t pid) {
  *t = (struct tracee){ .pid = pid, .memory_fd = -1 };
  char path[64];
  for (int is_more = 1; is_more;) {
    is_more = 0;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *folder = opendir(path);
    if (folder == NULL) break;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
      pid_t tid = (pid_t)atoi(entry->d_name);
      if (tid <= 0 || is_known(t, tid)) continue;
      size_t before = t->count;
      if (!stop_thread(t, tid)) {
        int error = errno;
        closedir(folder);
        let_go(t);
        return fail_to_stop(pid, error);
      }
      is_more |= t->count > before;
    }
    closedir(folder);
  }
  if (t->count == 0) return fail("process %d has ended", pid);
  t->worker = t->threads[0];
  snprintf(path, sizeof path, "/proc/%d/mem", t->worker);
  t->memory_fd = open(path, O_RDWR | O_CLOEXEC);
  if (t->memory_fd >= 0) return 1;
  int error = errno;
  let_go(t);
  return fail("the memory of process %d cannot be opened: %s", pid, strerror(error));
}

/* The worker is to make calls: its registers are kept, and signals wait. */
static int begin_calls(struct tracee *t) {
  uint64_t all = ~0ull;
  return ptrace(PTRACE_GETREGS, t->worker, NULL, &t->saved) == 0 &&
         ptrace(PTRACE_GETSIGMASK, t->worker, sizeof t->mask, &t->mask) == 0 &&
         ptrace(PTRACE_SETSIGMASK, t->worker, sizeof all, &all) == 0;
}

/*
 * The worker is what it was before. It stops once more, where the kernel handles signals: there it makes the system
 * call again that was interrupted first.
 */
static void end_calls(struct tracee *t) {
  ptrace(PTRACE_SETREGS, t->worker, NULL, &t->saved);
  ptrace(PTRACE_SETSIGMASK, t->worker, sizeof t->mask, &t->mask);
  ptrace(PTRACE_INTERRUPT, t->worker, NULL, NULL);
  if (ptrace(PTRACE_CONT, t->worker, NULL, NULL) == 0) wait_stopped(t->worker);
}

/* Lets the worker run to the beginning or the end of a system call. */
static int run_to_call(struct tracee *t) {
  int status;
  do {
    if (ptrace(PTRACE_SYSCALL, t->worker, NULL, NULL) < 0 || !wait_for(t->worker, &status)) return 0;
    /* SIGSTOP is sent once more when all is done. */
    if (status >> 16 == 0 && WSTOPSIG(status) != (SIGTRAP | 0x80)) t->stop_signal = WSTOPSIG(status);
  } while (status >> 16 != 0 || WSTOPSIG(status) != (SIGTRAP | 0x80));
  return 1;
}

/* The worker makes a system call. Returns its result, as the kernel gives it. */
static int64_t call(struct tracee *t, long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                    uint64_t f) {
  struct user_regs_struct regs = t->saved;
  const struct call made = { number, { a, b, c, d, e, f } };
  set_call(&regs, t->instruction, &made);
  if (ptrace(PTRACE_SETREGS, t->worker, NULL, &regs) < 0 || !run_to_call(t) || !run_to_call(t)) return -ESRCH;
  return ptrace(PTRACE_GETREGS, t->worker, NULL, &regs) < 0 ? -ESRCH : result_of(&regs);
}

#endif
