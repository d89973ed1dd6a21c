/*
 * What loading the library into a process takes of x86-64: the registers of a thread that is to make a call of the
 * system, and the references of a library.
 */
#ifndef HEAPFLOW_RECORDER_MACHINE_X86_64_CALLS_H
#define HEAPFLOW_RECORDER_MACHINE_X86_64_CALLS_H

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/user.h>

#define MACHINE_NUMBER EM_X86_64
/* The instruction for system calls. */
#define CALL_INSTRUCTION "\x0f\x05"
#define CALL_BYTES 2
/* What the kernel stores for the number of a system call where there is none. */
#define NO_CALL (~0ull)

struct call {
  long number;
  uint64_t arguments[6];
};

static inline uint64_t position_of(const struct user_regs_struct *regs) { return regs->rip; }
static inline int64_t result_of(const struct user_regs_struct *regs) { return (int64_t)regs->rax; }

static inline void set_call(struct user_regs_struct *regs, uint64_t instruction, const struct call *call) {
  regs->rax = (uint64_t)call->number;
  regs->orig_rax = NO_CALL;
  regs->rip = instruction;
  regs->rdi = call->arguments[0];
  regs->rsi = call->arguments[1];
  regs->rdx = call->arguments[2];
  regs->r10 = call->arguments[3];
  regs->r8 = call->arguments[4];
  regs->r9 = call->arguments[5];
}

/* Whether the thread was stopped in a call that the kernel does not make again by itself. */
static inline int is_interrupted_call(const struct user_regs_struct *regs) {
  if (result_of(regs) != -EINTR) return 0;
  switch (regs->orig_rax) {
    case SYS_epoll_wait: case SYS_epoll_pwait: case SYS_semop: case SYS_semtimedop: case SYS_rt_sigtimedwait:
    case SYS_io_getevents:
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2:
#endif
#ifdef SYS_io_pgetevents
    case SYS_io_pgetevents:
#endif
      return 1;
    default: return 0;
  }
}

static inline void repeat_call(struct user_regs_struct *regs) {
  regs->rax = regs->orig_rax;
  regs->rip -= CALL_BYTES;
}

/* ---- references ---- */

static inline int is_relative(uint64_t type) { return type == R_X86_64_RELATIVE; }
static inline int is_of_symbol(uint64_t type) {
  return type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT || type == R_X86_64_64;
}
/* Whether a number is added to what the symbol is. */
static inline int has_addend(uint64_t type) { return type == R_X86_64_64; }

#endif
