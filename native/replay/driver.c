/* Executes the operations of a file, and reports what they cost: see docs/operations.md.
 *
 * driver FILE [OPTION=VALUE ...]
 *
 * The main thread is the first thread of the trace, and a trace of one thread never makes a second. Nothing here calls
 * the allocator except the operations: no stdio, no formatted output. Operations are in file-backed memory and tables
 * in shared memory, so the anonymous resident set is the allocator's, and the stacks'. */
#define _GNU_SOURCE
#include "run.h"
#include <dlfcn.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static struct {
  char text[1 << 16];
  uint32_t length;
} report;

static void say(const char *text) {
  while (*text && report.length < sizeof report.text) report.text[report.length++] = *text++;
}

static void say_number(uint64_t n) {
  char digits[24];
  int at = sizeof digits - 1;
  digits[at] = 0;
  do digits[--at] = (char)('0' + n % 10);
  while (n /= 10);
  say(digits + at);
}

static void say_figure(const char *name, uint64_t n) {
  say(report.length == 1 ? "\"" : ",\"");
  say(name);
  say("\":");
  say_number(n);
}

/* The file that malloc is in: whoever started this sees whether it is the allocator that was meant. */
static void say_object(void) {
  Dl_info info;
  const char *name = dladdr((void *)(uintptr_t)malloc, &info) && info.dli_fname ? info.dli_fname : "";
  say(",\"object\":\"");
  for (char text[2] = {0}; *name; name++) {
    text[0] = *name;
    if (*name == '"' || *name == '\\') say("\\");
    say((unsigned char)*name < 32 ? "?" : text);
  }
  say("\"");
}

static void write_all(int fd, const char *text, uint64_t length) {
  while (length > 0) {
    ssize_t n = write(fd, text, length);
    if (n <= 0) _exit(3);
    text += n;
    length -= (uint64_t)n;
  }
}

static void fail(const char *reason) {
  write_all(2, reason, strlen(reason));
  write_all(2, "\n", 1);
  _exit(2);
}

static uint64_t number_of(const char *text) {
  uint64_t n = 0;
  if (!*text) fail("a number is missing");
  for (; *text; text++) {
    if (*text < '0' || *text > '9' || n > 1000000000000u) fail("an option is no number");
    n = n * 10 + (uint64_t)(*text - '0');
  }
  return n;
}

/* The value of an option, if the word is of that option. */
static const char *value_of(const char *word, const char *name) {
  uint64_t n = strlen(name);
  return strncmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

static const char *addresses_path;
static unsigned limit = 600;

static void read_option(const char *word) {
  static const char *const names[] = {"none", "first", "page", "all"};
  const char *value;
  if ((value = value_of(word, "touch"))) {
    for (int i = 0; i < 4; i++)
      if (!strcmp(value, names[i])) {
        options.touch = i;
        return;
      }
    fail("touch is none, first, page or all");
  }
  if ((value = value_of(word, "verify"))) options.verify = number_of(value) != 0;
  else if ((value = value_of(word, "watch"))) options.watch = number_of(value) != 0;
  /* Calls between two looks at the resident set. */
  else if ((value = value_of(word, "step"))) watch.step = number_of(value);
  else if ((value = value_of(word, "limit"))) limit = (unsigned)(number_of(value) % 1000000);
  else if ((value = value_of(word, "addresses"))) addresses_path = value;
  /* In percent of the trace's speed. */
  else if ((value = value_of(word, "pace"))) options.pace = (double)number_of(value) / 100;
  else if ((value = value_of(word, "empty"))) {
    if (number_of(value) != 0) use_empty();
  } else fail("an option is unknown");
}

/* Memory for the addresses of all allocations, in a file. */
static void open_addresses(void) {
  uint64_t length = (file.tail->calls + 1) * 8;
  int fd = open(addresses_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file.tail->threads > 1) fail("addresses are those of one thread");
  if (fd < 0 || ftruncate(fd, (off_t)length)) fail("the file of addresses cannot be written");
  options.addresses = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (options.addresses == MAP_FAILED) fail("the file of addresses cannot be mapped");
  close(fd);
}

static void say_watched(void) {
  uint32_t count = atomic_load(&watch.count);
  say(",\"times\":[");
  for (uint32_t i = 0, n = 0; i < CLASSES; i++) {
    if (watch.times[i] == 0) continue;
    say(n++ ? ",[" : "[");
    /* The lowest time of the class. */
    say_number(i < PARTS ? i : (uint64_t)(PARTS + i % PARTS) << (i / PARTS - 1));
    say(",");
    say_number(watch.times[i]);
    say("]");
  }
  say("],\"moments\":[");
  if (count > MOST_MOMENTS) count = MOST_MOMENTS;
  for (uint32_t i = 0; i < count; i++) {
    say(i ? ",[" : "[");
    say_number(watch.moments[i].calls);
    say(",");
    say_number(watch.moments[i].ns);
    say(",");
    say_number(watch.moments[i].anonymous);
    say(",");
    say_number(watch.moments[i].data);
    say("]");
  }
  say("]");
}

static uint64_t microseconds(struct timeval before, struct timeval after) {
  return (uint64_t)((after.tv_sec - before.tv_sec) * 1000000 + after.tv_usec - before.tv_usec);
}

/* Prepares everything that the run needs, and checks the file. */
static void prepare(const char *path) {
  const char *wrong = open_file(&file, path);
  unsigned char *born = shared(MOST_THREADS, 1);
  if (!wrong) wrong = born ? check_file(&file, born) : "there is no memory";
  if (wrong) fail(wrong);
  munmap(born, MOST_THREADS);
  slots = shared(file.tail->slots, sizeof *slots);
  sizes = options.verify ? shared(file.tail->slots, sizeof *sizes) : NULL;
  progress = shared(file.tail->threads, sizeof *progress);
  figures = shared(file.tail->threads, sizeof *figures);
  addresses_at = shared(1, sizeof *addresses_at);
  if (!slots || !progress || !figures || !addresses_at || (options.verify && !sizes)) fail("there is no memory");
  if (options.watch && !begin_watch(file.tail->calls)) fail("there is no memory");
  if (addresses_path) open_addresses();
  epochs.left = (_Atomic uint32_t *)file.participants;
  epochs.count = (uint32_t)file.tail->epochs;
}

int main(int count, char **words) {
  struct rusage usage, usage_after;
  uint32_t threads, left;
  if (count < 2) fail("usage: driver FILE [OPTION=VALUE ...]");
  /* If hf-replay is killed, nothing else ends this program. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  options.touch = TOUCH_ALL;
  for (int i = 2; i < count; i++) read_option(words[i]);
  alarm(limit);
  prepare(words[1]);
  threads = file.tail->threads;
  if (threads > 1) {
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 256 << 10);
  }

  reset_highest();
  struct resident before = resident();
  getrusage(RUSAGE_SELF, &usage);
  started = watch.started = clock_ns(CLOCK_MONOTONIC);
  atomic_fetch_add(&running, 1);
  run_thread(0);
  atomic_fetch_sub(&running, 1);
  while ((left = atomic_load(&running)) > 0) futex_wait(&running, left, ~0u);
  uint64_t wall = clock_ns(CLOCK_MONOTONIC) - started;
  getrusage(RUSAGE_SELF, &usage_after);
  struct resident after = resident();
  if (options.verify) verify_live(figures);

  struct figures all = {0};
  for (uint32_t i = 0; i < threads; i++) {
    all.cpu += figures[i].cpu;
    all.waiting += figures[i].waiting;
    all.failed += figures[i].failed;
    all.damaged += figures[i].damaged;
    all.misaligned += figures[i].misaligned;
  }
  uint64_t file_growth = after.file > before.file ? after.file - before.file : 0;
  uint64_t others = before.all - before.anonymous + file_growth;
  say("{");
  say_figure("calls", file.tail->calls);
  say_figure("threads", threads);
  say_figure("wall", wall);
  say_figure("cpu", all.cpu > all.waiting ? all.cpu - all.waiting : 0);
  say_figure("waiting", all.waiting);
  say_figure("user", microseconds(usage.ru_utime, usage_after.ru_utime));
  say_figure("system", microseconds(usage.ru_stime, usage_after.ru_stime));
  say_figure("start", before.anonymous);
  say_figure("peak", after.highest > others ? after.highest - others : 0);
  say_figure("final", after.anonymous);
  say_figure("startData", before.data);
  say_figure("finalData", after.data);
  say_figure("minorFaults", (uint64_t)(usage_after.ru_minflt - usage.ru_minflt));
  say_figure("majorFaults", (uint64_t)(usage_after.ru_majflt - usage.ru_majflt));
  say_figure("failed", all.failed);
  say_figure("damaged", all.damaged);
  say_figure("misaligned", all.misaligned);
  if (options.watch) say_watched();
  say_object();
  say("}\n");
  write_all(1, report.text, report.length);
  _exit(0);
}
