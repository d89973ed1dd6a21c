/*
 * arm64. Sources: Procedure Call Standard for the Arm 64-bit Architecture, 6.1.1 and 6.4.6; DWARF for the Arm 64-bit
 * Architecture, 4.1 and 4.3; Linux, arch/arm64/kernel/signal.c and asm/sigcontext.h.
 */
#ifndef HEAPFLOW_RECORDER_MACHINE_AARCH64_H
#define HEAPFLOW_RECORDER_MACHINE_AARCH64_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The registers that call frame information is read for: x29, sp and x30. */
enum { DW_FP = 29, DW_SP = 31, DW_RA = 30 };
/* A call leaves the return address in x30. A function that calls no other one may leave it there. */
#define HAS_LINK 1
/* The frame pointer points to a pair of words that may be anywhere in its frame. */
#define IS_RECORD_ON_TOP 0
/*
 * B: return addresses are signed with the other key; G: the stack has tags. DW_CFA_AARCH64_negate_ra_state and
 * DW_CFA_AARCH64_negate_ra_state_with_pc: from here on, they are signed or not. Signatures are taken off always.
 */
static inline int is_idle_letter(char letter) { return letter == 'B' || letter == 'G'; }
static inline int is_idle_instruction(uint8_t instruction) { return instruction == 0x2d || instruction == 0x2c; }

/* Where the library maps its memory: below what systems with addresses of 39 bits put at the end of these. */
#define FAR 0x3000000000ull

static inline uint64_t thread_pointer(void) {
  uint64_t pointer;
  __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
  return pointer;
}

/* Takes the signature off. The instruction (xpaclri) does nothing on processors that do not sign. */
static inline uint64_t return_address(uint64_t word) {
  register uint64_t link __asm__("x30") = word;
  __asm__("hint #7" : "+r"(link));
  return link;
}

/* The clock of the system is read as quickly. */
#define CAN_TICK 0
static inline uint64_t ticks(void) { return 0; }

/* ---- signals ---- */

struct interrupted {
  uint64_t sp, pc, fp, link;
};
/* 128 bytes of information and 176 of the context before its registers: a fault address, x0 to x30, sp, pc. */
#define SIGNAL_FRAME_BYTES (128 + 176 + 34 * 8)
static inline struct interrupted interrupted_at(uint64_t sp) {
  const uint64_t *x = (const uint64_t *)(sp + 128 + 176 + 8);
  return (struct interrupted){ x[31], x[32], x[29], return_address(x[30]) };
}

/* ---- code that is known by its instructions ---- */

#define KNOWN_BYTES 24
/* Since Linux 5.8, the code of the kernel that returns from a signal has no call frame information. */
static inline int is_signal_return(const uint8_t *code, size_t n) {
  /* mov x8, 139; svc 0 */
  static const uint32_t instructions[] = { 0xd2801168, 0xd4000001 };
  return n >= sizeof instructions && memcmp(code, instructions, sizeof instructions) == 0;
}
/* The rest of a jump to another module, which leaves sp and x30 as they are. */
static inline int is_jump(const uint8_t *code, size_t n) {
  for (size_t i = 0; i + 4 <= n; i += 4) {
    uint32_t instruction;
    memcpy(&instruction, code + i, sizeof instruction);
    if (instruction == 0xd61f0220) return 1; /* br x17 */
    int is_known = (instruction & 0x9f00001f) == 0x90000010 || /* adrp x16 */
                   (instruction & 0xffc003ff) == 0xf9400211 || /* ldr x17, [x16, #] */
                   (instruction & 0xffc003ff) == 0x91000210 || /* add x16, x16, # */
                   (instruction & 0xfffff01f) == 0xd503201f;   /* bti, autia1716, nop */
    if (!is_known) return 0;
  }
  return 0;
}
/* They have no rule of their own. */
static inline int64_t jump_frame(const uint8_t *expression, size_t n, uint64_t pc) {
  return (void)expression, (void)n, (void)pc, 0;
}

/* ---- calls of the library ---- */

/*
 * Begins the definition of a function that is called in place of that of libc. A frame is where its compiler wants it,
 * so that a function does not know where that of its caller ends: it is called by code that stores x29 and x30 there,
 * and has a name of its own. The first instruction (bti c) marks the target of a call.
 */
#define ENTRY(result, name)                                                                                      \
  __asm__(".pushsection .text\n.balign 16\n.globl " #name "\n.type " #name ", %function\n" #name ":\n"           \
          ".cfi_startproc\nhint #34\nstp x29, x30, [sp, #-16]!\n"                                                \
          ".cfi_def_cfa_offset 16\n.cfi_offset 29, -16\n.cfi_offset 30, -8\nmov x29, sp\nbl entered_" #name "\n" \
          "ldp x29, x30, [sp], #16\n.cfi_restore 30\n.cfi_restore 29\n.cfi_def_cfa_offset 0\nret\n"              \
          ".cfi_endproc\n.size " #name ", .-" #name "\n.popsection");                                            \
  __attribute__((visibility("hidden"), used)) result entered_##name
/* Of its caller: the frame pointer, and the return address, above which its stack begins. */
#define OWN (*(const uint64_t *const *)__builtin_frame_address(0))

/* The reader cannot load the library into a process that runs already. */
#define CAN_ATTACH 0

#endif
