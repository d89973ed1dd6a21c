/*
 * The file that the reader writes: bytes and numbers, as a zstd frame if that is asked for and the machine has libzstd.
 */
#ifndef HEAPFLOW_RECORDER_OUTPUT_H
#define HEAPFLOW_RECORDER_OUTPUT_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int out_fd = -1, whole_fd = -1, out_failed, is_unread;
static uint8_t out[1 << 16];
static size_t out_used;
/* The bytes that were written, before they were compressed. */
static uint64_t out_bytes;

/* ---- compression ---- */

/* Of libzstd 1.4 and later, whose interface is stable. Source: zstd.h. */
struct zstd_input {
  const void *bytes;
  size_t size, used;
};
struct zstd_output {
  void *bytes;
  size_t size, used;
};
enum { ZSTD_CONTINUE, ZSTD_FLUSH, ZSTD_END };
enum { ZSTD_LEVEL = 100, ZSTD_CHECKSUM = 201 };
/* What was compressed is written at least so often, so that a reader of the file sees it. */
#define FLUSH_SECONDS 1

static void *compressor;
static size_t (*compress_stream)(void *, struct zstd_output *, struct zstd_input *, int);
static unsigned (*is_zstd_error)(size_t);
static time_t flushed_at;

static void begin_compressing(void) {
  void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return;
  void *(*create)(void) = (void *(*)(void))dlsym(library, "ZSTD_createCCtx");
  size_t (*set)(void *, int, int) = (size_t(*)(void *, int, int))dlsym(library, "ZSTD_CCtx_setParameter");
  compress_stream =
    (size_t(*)(void *, struct zstd_output *, struct zstd_input *, int))dlsym(library, "ZSTD_compressStream2");
  is_zstd_error = (unsigned (*)(size_t))dlsym(library, "ZSTD_isError");
  if (create == NULL || set == NULL || compress_stream == NULL || is_zstd_error == NULL) return;
  compressor = create();
  if (compressor == NULL) return;
  set(compressor, ZSTD_LEVEL, 1);
  set(compressor, ZSTD_CHECKSUM, 1);
}

/* ---- bytes ---- */

static void write_failed(const char *why) {
  out_failed = 1;
  /* The command that reads the report says it. */
  if (whole_fd >= 0) dprintf(whole_fd, "failed %s", why);
  else fprintf(stderr, "heapflow: cannot write the recording: %s\n", why);
}

static void write_all(const uint8_t *bytes, size_t n) {
  size_t done = 0;
  while (done < n && !out_failed) {
    ssize_t written = write(out_fd, bytes + done, n - done);
    if (written >= 0) done += (size_t)written;
    /* The consumer may have read enough. */
    else if (errno == EPIPE) out_failed = is_unread = 1;
    else if (errno == EAGAIN) poll(&(struct pollfd){ out_fd, POLLOUT, 0 }, 1, -1);
    else if (errno != EINTR) write_failed(strerror(errno));
  }
}

static void compress(int how) {
  static uint8_t compressed[1 << 16];
  if (out_failed) return;
  struct zstd_input input = { out, out_used, 0 };
  for (;;) {
    struct zstd_output output = { compressed, sizeof compressed, 0 };
    size_t left = compress_stream(compressor, &output, &input, how);
    if (is_zstd_error(left)) return write_failed("libzstd failed");
    write_all(compressed, output.used);
    if (out_failed || (how == ZSTD_CONTINUE ? input.used == input.size : left == 0)) return;
  }
}

/* Writes what `out` has. How: whether its compressed bytes may be kept for a while. */
static void write_out(int how) {
  if (compressor != NULL) compress(how);
  else write_all(out, out_used);
  out_bytes += out_used;
  out_used = 0;
}

/* There is nothing more to write for the moment. */
static void pack_flush(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  int is_due = time.tv_sec - flushed_at >= FLUSH_SECONDS;
  if (compressor != NULL && !is_due) return;
  flushed_at = time.tv_sec;
  write_out(ZSTD_FLUSH);
}

static void put_bytes(const void *bytes, size_t n) {
  if (out_used + n > sizeof out) write_out(ZSTD_CONTINUE);
  memcpy(out + out_used, bytes, n);
  out_used += n;
}

/* The longest record without strings has 8 numbers. */
static void begin_record(uint8_t tag) {
  if (out_used + 128 > sizeof out) write_out(ZSTD_CONTINUE);
  out[out_used++] = tag;
}

static void put_number(uint64_t value) {
  while (value > 127) {
    out[out_used++] = (uint8_t)(value | 128);
    value >>= 7;
  }
  out[out_used++] = (uint8_t)value;
}

static void put_difference(uint64_t value, uint64_t from) {
  uint64_t difference = value - from;
  put_number(difference << 1 ^ (0 - (difference >> 63)));
}

/*
 * Opens the file. "-" stands for descriptor 3; the numbers of events, and of bytes before compression, are then written
 * to descriptor 4 when all is written. Otherwise that gets the word "unread" if the consumer has gone away, or a word
 * and the reason: "failed" if not all could be written, "unstarted" if the program was not started.
 */
static int open_output(const char *path, int is_compressed) {
  if (path[0] == '-') {
    out_fd = 3;
    whole_fd = 4;
    if (fcntl(out_fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(whole_fd, F_SETFD, FD_CLOEXEC) < 0) return 0;
  } else out_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (is_compressed) begin_compressing();
  return out_fd >= 0;
}

/* Writes the rest of the file. */
static void end_output(uint64_t events) {
  write_out(ZSTD_END);
  if (whole_fd >= 0 && is_unread) dprintf(whole_fd, "unread");
  else if (whole_fd >= 0 && !out_failed)
    dprintf(whole_fd, "%llu %llu", (unsigned long long)events, (unsigned long long)out_bytes);
}

#endif
