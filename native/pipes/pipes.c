/*
 * Gives the pipes at standard input and output the capacity of 1 MiB, as soon as Node loads it: Node itself has no way
 * to do so. It needs no library and no headers, so that it fits every libc that Node has.
 */

/* As in <fcntl.h> of Linux. */
int fcntl(int fd, int command, ...);
#define F_SETPIPE_SZ 1031
#define F_GETPIPE_SZ 1032

/* The most that a program without privileges may ask for. */
#define CAPACITY (1 << 20)

/* Node calls it, and takes what it returns for what the module exports. */
void *napi_register_module_v1(void *env, void *exports) {
  (void)env;
  /* Both calls fail, and change nothing, where there is no pipe, and where the user has too many large ones. */
  for (int fd = 0; fd <= 1; fd++)
    if (fcntl(fd, F_GETPIPE_SZ) < CAPACITY) fcntl(fd, F_SETPIPE_SZ, CAPACITY);
  return exports;
}
