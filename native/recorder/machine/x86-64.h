/*
 * x86-64. Sources: System V Application Binary Interface, AMD64 supplement, 3.4.1 and 3.7; Linux, asm/sigcontext.h.
 */
#ifndef HEAPFLOW_RECORDER_MACHINE_X86_64_H
#define HEAPFLOW_RECORDER_MACHINE_X86_64_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The registers that call frame information is read for: rbp, rsp, and the column of the return address. */
enum { DW_FP = 6, DW_SP = 7, DW_RA = 16 };
/* A call stores the return address on the stack: no register has it. */
#define HAS_LINK 0
/* Above what the frame pointer points to, nothing of its frame follows. */
#define IS_RECORD_ON_TOP 1
/* Letters of augmentations and instructions that change nothing for this reader: none. */
static inline int is_idle_letter(char letter) { return (void)letter, 0; }
static inline int is_idle_instruction(uint8_t instruction) { return (void)instruction, 0; }

/* Where the library maps its memory, far from the places where the system puts the program's. */
#define FAR 0x200000000000ull

static inline uint64_t thread_pointer(void) {
  uint64_t pointer;
  __asm__("mov %%fs:0, %0" : "=r"(pointer));
  return pointer;
}

/* The address in a word of the stack that was stored for a return. */
static inline uint64_t return_address(uint64_t word) { return word; }

/* A counter that the system may make its clock from. */
#define CAN_TICK 1
static inline uint64_t ticks(void) {
  uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return (uint64_t)high << 32 | low;
}

/* ---- signals ---- */

struct interrupted {
  uint64_t sp, pc, fp, link;
};
/* The context of the kernel follows the return address. Its registers begin at 40: rbp is 10, rsp 15, rip 16. */
#define SIGNAL_FRAME_BYTES (40 + 17 * 8)
static inline struct interrupted interrupted_at(uint64_t sp) {
  const uint64_t *registers = (const uint64_t *)(sp + 40);
  return (struct interrupted){ registers[15], registers[16], registers[10], 0 };
}

/* ---- code that is known by its instructions ---- */

/* All has call frame information: what returns from a signal, and jumps to other modules. */
#define KNOWN_BYTES 0
static inline int is_signal_return(const uint8_t *code, size_t n) { return (void)code, (void)n, 0; }
static inline int is_jump(const uint8_t *code, size_t n) { return (void)code, (void)n, 0; }

/*
 * Linkers give these jumps one rule, whose expression depends on where in a jump of 16 bytes the program counter is:
 * rsp + 8 + ((rip & 15) >= 11) * 8. Returns the number to add to rsp; 0 for other expressions.
 */
static inline int64_t jump_frame(const uint8_t *expression, size_t n, uint64_t pc) {
  static const uint8_t usual[] = { 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 };
  return n == sizeof usual && memcmp(expression, usual, n) == 0 ? 8 + ((pc & 15) >= 11) * 8 : 0;
}

/* ---- calls of the library ---- */

/* Begins the definition of a function that is called in place of that of libc. */
#define ENTRY(result, name) EXPORT result name
/* Of its caller: the frame pointer, and the return address, above which its stack begins. */
#define OWN ((const uint64_t *)__builtin_frame_address(0))

/* The reader can load the library into a process that runs already. */
#define CAN_ATTACH 1

#endif
