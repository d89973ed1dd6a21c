/* Memory of the driver itself, and figures of the system. Nothing here calls an allocator. */
#ifndef MEMORY_H
#define MEMORY_H

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Memory that is shared, so that it is not part of the anonymous resident set; resident from the beginning. */
static void *shared(uint64_t count, uint64_t size) {
  uint64_t length = (count * size + 4095) & ~(uint64_t)4095;
  int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE;
  void *p = mmap(NULL, length ? length : 4096, PROT_READ | PROT_WRITE, flags, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static uint64_t clock_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Of the resident set, in KiB. */
struct resident {
  uint64_t all, highest, anonymous, file, shared;
  uint64_t data; /* private memory that was mapped, resident or not */
};

/* The number after a name in the text of /proc/self/status, 0 if it is not there. */
static uint64_t field(const char *text, const char *name) {
  const char *p = strstr(text, name);
  uint64_t n = 0;
  if (!p) return 0;
  for (p += strlen(name); *p == ' ' || *p == '\t'; p++) continue;
  for (; *p >= '0' && *p <= '9'; p++) n = n * 10 + (uint64_t)(*p - '0');
  return n;
}

static struct resident resident(void) {
  char text[4096];
  struct resident r = {0};
  int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return r;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return r;
  text[n] = 0;
  r.all = field(text, "VmRSS:");
  r.highest = field(text, "VmHWM:");
  r.anonymous = field(text, "RssAnon:");
  r.file = field(text, "RssFile:");
  r.shared = field(text, "RssShmem:");
  r.data = field(text, "VmData:");
  return r;
}

/* The highest resident set counts from now on. */
static void reset_highest(void) {
  int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (write(fd, "5", 1) < 0) { /* It then counts from the start of the process. */
  }
  close(fd);
}

#endif
