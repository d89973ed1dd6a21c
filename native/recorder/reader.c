/*
 * Starts a program with the recorder (recorder.c) loaded, drains the rings of the threads of all its processes, and
 * writes what they hold in the format "recorder" (lib/formats/recorder/README.md). It outlives the program and the
 * processes that are recorded, and ends as the program did.
 *
 *   reader OUTPUT LIBRARY DEPTH FLAGS PROGRAM [ARGUMENT]...
 *   reader OUTPUT MEMORY DEPTH FLAGS
 *   reader OUTPUT LIBRARY DEPTH FLAGS PROCESS
 *
 * The second form starts nothing: it makes the memory file MEMORY, for programs that are started with the library, and
 * ends when those have ended, or by a signal. The third one, with the letter a among FLAGS, loads the library into a
 * process that runs already, and ends in the same way; if it cannot do that, its exit status is 125.
 *
 * FLAGS are letters: d drops events rather than wait, c records children, f records the stacks of frees, z compresses
 * OUTPUT with zstd if the machine has libzstd.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
/* Older headers do not have it. */
#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 1u
#endif
#include "machine/machine.h"
#include "memory.h"
#include "processes.h"
#if CAN_ATTACH
#include "attach.h"
#endif

#define TICK_NS 10000000u
#define NAME_TICKS 10u
/* A round of so many events is followed by another one at once. */
#define MANY 4096u
/* How long forked processes that have not begun are waited for, and after what time the user hears about others. */
#define FORK_NS 3000000000u
#define PATIENCE_NS 1000000000u

static pid_t program;
static volatile sig_atomic_t is_program_over, is_stopped;
/* Others start what is recorded; or it runs already. */
static int is_beside;
#define CANNOT_ATTACH 125

static void on_child(int signal) {
  (void)signal;
  if (control != NULL) __atomic_fetch_add(&control->bell, 1, __ATOMIC_SEQ_CST);
}

/* The signals of a terminal are for the program; those that are sent to this process are passed on by its parent. */
static void on_signal(int signal) {
  if (is_program_over || is_beside) is_stopped = 1;
  on_child(signal);
}

static void start(char **words, const char *library, const char *path) {
  const char *before = getenv("LD_PRELOAD");
  char *preload;
  if (asprintf(&preload, "%s%s%s", library, before != NULL ? " " : "", before != NULL ? before : "") < 0) _exit(126);
  control->pid = (uint32_t)getpid();
  setenv("LD_PRELOAD", preload, 1);
  setenv(VARIABLE, path, 1);
  execvp(words[0], words);
  _exit(errno == ENOENT ? 127 : 126);
}

static void note_command(char **words) {
  for (; *words != NULL; words++) {
    size_t n = strlen(*words) + 1;
    if (n > MAX_COMMAND - first_length) break;
    memcpy(first_command + first_length, *words, n);
    first_length += (uint32_t)n;
  }
}

/* Makes the memory file under another name: under its own, it is ready. */
static int make_file(const char *path, const char *made) {
  unlink(made);
  unlink(path);
  return open(made, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static const char *depth, *flags;

static void set_up(struct control *page) {
  page->magic = MAGIC;
  page->reader = (uint32_t)getpid();
  page->depth = (uint32_t)strtoul(depth, NULL, 10);
  page->drops = strchr(flags, 'd') != NULL;
  page->children = strchr(flags, 'c') != NULL;
  page->free_stacks = strchr(flags, 'f') != NULL && page->depth > 0;
  has_free_stacks = (int)page->free_stacks;
  page->has_ticks = (uint32_t)begin_clock();
  page->regions = region_count;
  page->slots = slot_count;
}

/* Returns NULL, or what is wrong. */
static const char *share_memory(const char *path) {
  char made[4096];
  if (is_beside && (size_t)snprintf(made, sizeof made, "%s.new", path) >= sizeof made) return strerror(ENAMETOOLONG);
  memory_fd = is_beside ? make_file(path, made) : (int)syscall(SYS_memfd_create, "heapflow", MFD_CLOEXEC);
  if (memory_fd < 0) return strerror(errno);
  const char *fault = size_file(memory_fd);
  if (fault != NULL) return fault;
  control = mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
  if (control == MAP_FAILED) return strerror(errno);
  set_up(control);
  return !is_beside || rename(made, path) == 0 ? NULL : strerror(errno);
}

/* Whether nothing more is to come: the program and all recorded processes have ended, or a signal has come since. */
static int is_finished(uint64_t time) {
  static uint64_t since, idle_since;
  static int is_said;
  /* What runs on without this process is not recorded in vain. */
  if (is_beside && out_failed) return 1;
  if (is_beside ? process_count == 0 && !is_stopped : !is_program_over) return 0;
  if (since == 0) since = time;
  if (is_stopped) return 1;
  /* A program that others start, and that is not recorded, may start some that are. */
  if (are_running(is_beside && !is_attached)) {
    idle_since = 0;
    if (is_beside) since = 0;
    if (is_beside || time - since < PATIENCE_NS || is_said) return 0;
    fprintf(stderr, "heapflow: the program has ended; processes that it started are still recorded (Ctrl-C ends that)\n");
    is_said = 1;
    return 0;
  }
  if (idle_since == 0) idle_since = time;
  return __atomic_load_n(&control->forking, __ATOMIC_SEQ_CST) == 0 || time - idle_since > FORK_NS;
}

static void record(int *status) {
  uint64_t next_tick = 0;
  for (unsigned ticks = 0;;) {
    uint32_t bell = __atomic_load_n(&control->bell, __ATOMIC_SEQ_CST);
    /* What comes later waits, so that the ends of processes that it may have waited for are known by then. */
    uint64_t time = note_clock();
    if (!is_program_over && waitpid(program, status, WNOHANG) == program) is_program_over = 1;
    /* One that has begun may have ended already, and one that has ended has begun others before. */
    do find_ended(is_program_over ? 0 : program);
    while (find_processes());
    __atomic_store_n(&control->sleeping, 0, __ATOMIC_SEQ_CST);
    uint64_t taken = drain(time);
    if (time >= next_tick) {
      next_tick = time + TICK_NS;
      note_resident(time);
      if (++ticks % NAME_TICKS == 0) {
        note_names();
        note_replaced();
      }
    }
    /* A program that is always busy does not keep the recording from ending. */
    if (is_finished(time)) return;
    if (taken >= MANY) continue;
    pack_flush();
    __atomic_store_n(&control->sleeping, 1, __ATOMIC_SEQ_CST);
    struct timespec timeout = { 0, TICK_NS };
    syscall(SYS_futex, &control->bell, FUTEX_WAIT, bell, &timeout, NULL, 0);
  }
}

static void report_unrecorded(uint32_t processes, const char *why) {
  if (processes == 1) fprintf(stderr, "heapflow: 1 process was not recorded: %s\n", why);
  else if (processes > 1) fprintf(stderr, "heapflow: %u processes were not recorded: %s\n", processes, why);
}

static void report_lost(uint64_t count, const char *why) {
  if (count > 0) fprintf(stderr, "heapflow: %llu event%s lost: %s\n", (unsigned long long)count, count == 1 ? " was" : "s were", why);
}

static void end_recording(int kind, uint64_t value) {
  __atomic_store_n(&control->closed, 1, __ATOMIC_SEQ_CST);
  /* What had completed until then. Threads may be about to complete what they have begun. */
  for (int tries = 0; drain(note_clock()), tries < 50 && are_pending(); tries++) {
    struct timespec pause = { 0, 1000000 };
    nanosleep(&pause, NULL);
  }
  report_unrecorded(control->unrecorded, "there were too many at once");
  report_unrecorded(control->unmapped, "there was no address space for it (ulimit -v)");
  if (control->operators[0] != 0)
    fprintf(stderr, "heapflow: operator new and delete of %.*s are not recorded: LD_PRELOAD=libstdc++.so.6 makes the "
            "program use others\n", (int)sizeof control->operators, control->operators);
  report_lost(lost_without_slot, "more threads ran at once than there is room for");
  if (control->drops) report_lost(lost_in_slots, "they came faster than they could be written (--drop)");
  else report_lost(lost_in_slots, "a signal came while the recorder was at work");
  pack_end(kind, value);
}

/* How programs end that are not its children is not known here. */
static int record_beside(const char *path) {
  record(NULL);
  unlink(path);
  end_recording(are_running(0) ? RUNS_ON : EXITED, 0);
  return out_failed ? 1 : 0;
}

/* The process goes on as it was. */
static int record_attached(const char *library, const char *word) {
#if CAN_ATTACH
  pid_t pid = (pid_t)strtol(word, NULL, 10);
  if (!attach(pid, library, &memory_fd, set_up)) {
    fprintf(stderr, "%s\n", failure);
    return CANNOT_ATTACH;
  }
  control = mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
  if (control == MAP_FAILED) {
    fprintf(stderr, "no address space for the recording: %s\n", strerror(errno));
    detach(pid, library);
    return CANNOT_ATTACH;
  }
  fprintf(stderr, "attached\n");
  if (is_too_large)
    fprintf(stderr, "heapflow: process %d has more memory than is looked through: calls through pointers in the rest, "
            "such as those to free, are not recorded\n", pid);
  record(NULL);
  static uint32_t running[REGIONS];
  uint32_t count = 0;
  for (uint32_t i = 0; i < region_end; i++)
    if (processes[i] != NULL && !processes[i]->is_gone) running[count++] = processes[i]->pid;
  end_recording(count > 0 ? RUNS_ON : EXITED, 0);
  for (uint32_t i = 0; i < count; i++) detach((pid_t)running[i], library);
  return out_failed ? 1 : 0;
#else
  (void)library;
  fprintf(stderr, "process %s runs already, which can be recorded on x86-64 only: start it with hf-record\n", word);
  return CANNOT_ATTACH;
#endif
}

/* Ends as the program did. */
static int end_as(int status) {
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  struct rlimit none = { 0, 0 };
  struct sigaction usual = { .sa_handler = SIG_DFL };
  setrlimit(RLIMIT_CORE, &none);
  sigaction(WTERMSIG(status), &usual, NULL);
  raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}

/* Says why the program is not started, where no one else does. Returns the exit status. */
static int cannot_start(const char *what, const char *why) {
  if (whole_fd >= 0) dprintf(whole_fd, "unstarted %s: %s", what, why);
  else fprintf(stderr, "heapflow: %s: %s\n", what, why);
  return 1;
}

int main(int count, char **words) {
  if (count < 5) return 2;
  depth = words[3];
  flags = words[4];
  is_attached = strchr(flags, 'a') != NULL;
  if (is_attached && count != 6) return 2;
  is_beside = count == 5 || is_attached;
  if (!pack_open(words[1], strchr(flags, 'z') != NULL)) {
    fprintf(stderr, "heapflow: %s: %s\n", words[1], strerror(errno));
    return 1;
  }
  const char *fault = is_attached ? NULL : share_memory(words[2]);
  if (fault != NULL) return cannot_start("no shared memory for the recording", fault);
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), memory_fd);

  struct sigaction child = { .sa_handler = on_child }, stop = { .sa_handler = on_signal };
  struct sigaction ignored = { .sa_handler = SIG_IGN };
  sigaction(SIGCHLD, &child, NULL);
  const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE, SIGTSTP, SIGXFSZ };
  struct sigaction old[sizeof signals / sizeof *signals];
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sigaction(signals[i], i < 4 ? &stop : &ignored, &old[i]);
  if (is_attached) return record_attached(words[2], words[5]);
  if (is_beside) return record_beside(words[2]);
  note_command(words + 5);
  program = fork();
  if (program < 0) return cannot_start("no process for the program", strerror(errno));
  if (program == 0) {
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sigaction(signals[i], &old[i], NULL);
    start(words + 5, words[2], path);
  }
  int status = 0;
  record(&status);
  end_recording(WIFSIGNALED(status) ? SIGNALLED : EXITED, (uint64_t)(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)));
  return end_as(status);
}
