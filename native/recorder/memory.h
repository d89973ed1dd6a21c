/*
 * The size of the memory file. The limit of the size of files (ulimit -f) is for memory files, too.
 */
#ifndef HEAPFLOW_RECORDER_MEMORY_H
#define HEAPFLOW_RECORDER_MEMORY_H

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "process.h"

/* What there is of slots and regions before the number of the other one is reduced. */
#define MANY_SLOTS 64u
#define MANY_REGIONS 16u

/* Reduces the numbers of regions and slots to what fits in so many bytes. Returns 0 if not even the least does. */
static int fit_into(rlim_t bytes) {
  while (file_bytes(region_count, slot_count) > bytes) {
    if (slot_count > MANY_SLOTS) slot_count /= 2;
    else if (region_count > MANY_REGIONS) region_count /= 2;
    else if (slot_count > LEAST_SLOTS) slot_count /= 2;
    else if (region_count > LEAST_REGIONS) region_count /= 2;
    else return 0;
  }
  return 1;
}

/*
 * Gives the memory file its size. The limit is raised for that as far as this is allowed. Returns NULL, or what is
 * wrong.
 */
static const char *size_file(int fd) {
  struct rlimit usual, none = { RLIM_INFINITY, RLIM_INFINITY };
  const char *fault = NULL;
  if (getrlimit(RLIMIT_FSIZE, &usual) < 0) usual = none;
  struct rlimit most = { usual.rlim_max, usual.rlim_max };
  if (setrlimit(RLIMIT_FSIZE, &none) == 0) most = none;
  else setrlimit(RLIMIT_FSIZE, &most);
  if (most.rlim_max != RLIM_INFINITY && !fit_into(most.rlim_max))
    fault = "the limit of the size of files (ulimit -f) is too low";
  else if (ftruncate(fd, (off_t)file_bytes(region_count, slot_count)) < 0) fault = strerror(errno);
  setrlimit(RLIMIT_FSIZE, &usual);
  return fault;
}

#endif
