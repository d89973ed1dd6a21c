/*
 * Call frame information: the rule that leads from a frame to its caller, for a program counter. Reads only
 * the mapped tables of loaded modules (.eh_frame_hdr and .eh_frame) and allocates nothing.
 * Source: DWARF 5, 6.4; Linux Standard Base Core 5.0, 10.6 (Exception Frames).
 */
#ifndef HEAPFLOW_RECORDER_UNWIND_H
#define HEAPFLOW_RECORDER_UNWIND_H

#include <stdint.h>
#include <string.h>
#include "machine/machine.h"

/* How the caller's frame is found. */
enum {
  RULE_UNKNOWN,  /* no rule that this code knows: the walk ends early */
  RULE_NONE,     /* no information about this program counter */
  RULE_END,      /* the outermost frame */
  RULE_START,    /* the same: a return address that nothing called from, where a function starts */
  RULE_SP,      /* the canonical frame address is the stack pointer + cfa */
  RULE_FP,      /* it is the frame pointer + cfa */
  RULE_AT_SP,   /* it is in memory at the stack pointer + cfa */
  RULE_AT_FP,   /* it is in memory at the frame pointer + cfa */
  RULE_GO,       /* code of Go without information: by the frame pointer, which may be in another stack */
  RULE_SIGNAL,   /* the frame of a signal: registers are in the context at the stack pointer */
};
/* Where the caller's frame pointer is: unchanged, at CFA + fp, or at the frame pointer + fp. */
enum { FP_SAME, FP_AT_CFA, FP_AT_FP };

struct rule {
  uint8_t kind;
  uint8_t fp_kind;
  /* The return address is in its register, and not at CFA + ra. */
  uint8_t is_in_link;
  int32_t cfa;
  int32_t fp;
  int32_t ra;
};

/* A position in tables, and their end. Reads beyond the end give 0. */
struct cursor {
  const uint8_t *at;
  const uint8_t *end;
};

static uint64_t cf_fixed(struct cursor *c, size_t n) {
  uint64_t value = 0;
  if ((size_t)(c->end - c->at) < n) {
    c->at = c->end;
    return 0;
  }
  memcpy(&value, c->at, n);
  c->at += n;
  return value;
}

static uint64_t cf_uleb(struct cursor *c) {
  uint64_t value = 0;
  for (unsigned shift = 0; c->at < c->end; shift += 7) {
    uint8_t byte = *c->at++;
    if (shift < 64) value |= (uint64_t)(byte & 127) << shift;
    if (!(byte & 128)) break;
  }
  return value;
}

static int64_t cf_sleb(struct cursor *c) {
  uint64_t value = 0;
  unsigned shift = 0;
  uint8_t byte = 0;
  while (c->at < c->end) {
    byte = *c->at++;
    if (shift < 64) value |= (uint64_t)(byte & 127) << shift;
    shift += 7;
    if (!(byte & 128)) break;
  }
  if (shift < 64 && (byte & 64)) value |= ~(uint64_t)0 << shift;
  return (int64_t)value;
}

/* A pointer in one of the encodings of exception tables. */
static uint64_t cf_pointer(struct cursor *c, uint8_t encoding, uint64_t data) {
  uint64_t here = (uint64_t)(uintptr_t)c->at, value = 0;
  if (encoding == 0xff) return 0;
  switch (encoding & 15) {
    case 0: case 4: case 12: value = cf_fixed(c, 8); break;
    case 1: value = cf_uleb(c); break;
    case 2: value = cf_fixed(c, 2); break;
    case 3: value = cf_fixed(c, 4); break;
    case 9: value = (uint64_t)cf_sleb(c); break;
    case 10: value = (uint64_t)(int64_t)(int16_t)cf_fixed(c, 2); break;
    case 11: value = (uint64_t)(int64_t)(int32_t)cf_fixed(c, 4); break;
    default: c->at = c->end; return 0;
  }
  if (value == 0) return 0;
  if ((encoding & 0x70) == 0x10) value += here;
  if ((encoding & 0x70) == 0x30) value += data;
  return value;
}

/* The rules of a row: of the CFA, of the frame pointer and of the return address. */
enum { REG_SAME, REG_AT, REG_EXPRESSION, REG_UNDEFINED, REG_OTHER };
struct reg {
  int kind;
  int64_t offset;
  struct cursor expression;
};
struct row {
  uint64_t cfa_reg;
  int64_t cfa_offset;
  int cfa_is_expression;
  struct cursor cfa_expression;
  struct reg fp, ra;
};

struct cie {
  uint64_t code;
  int64_t data;
  uint8_t encoding;
  int is_signal, has_augmentation;
  struct cursor instructions;
};

static int cf_cie(const uint8_t *at, struct cie *cie) {
  struct cursor c = { at, at + 4 };
  uint32_t length = (uint32_t)cf_fixed(&c, 4);
  if (length == 0 || length == 0xffffffff) return 0;
  c.end = c.at + length;
  cf_fixed(&c, 4);
  uint8_t version = (uint8_t)cf_fixed(&c, 1);
  const char *augmentation = (const char *)c.at;
  while (c.at < c.end && *c.at++ != 0) {}
  cie->code = cf_uleb(&c);
  cie->data = cf_sleb(&c);
  if ((version == 1 ? cf_fixed(&c, 1) : cf_uleb(&c)) != DW_RA) return 0;
  cie->encoding = 0;
  cie->is_signal = 0;
  cie->has_augmentation = augmentation[0] == 'z';
  if (cie->has_augmentation) {
    uint64_t size = cf_uleb(&c);
    struct cursor data = c;
    if (size > (uint64_t)(c.end - c.at)) return 0;
    c.at += size;
    for (const char *letter = augmentation + 1; *letter; letter++) {
      if (*letter == 'R') cie->encoding = (uint8_t)cf_fixed(&data, 1);
      else if (*letter == 'P') cf_pointer(&data, (uint8_t)cf_fixed(&data, 1), 0);
      else if (*letter == 'L') cf_fixed(&data, 1);
      else if (*letter == 'S') cie->is_signal = 1;
      else if (!is_idle_letter(*letter)) return 0;
    }
  } else if (augmentation[0] != 0) return 0;
  cie->instructions = c;
  return 1;
}

static struct reg *cf_reg(struct row *row, uint64_t number) {
  return number == DW_FP ? &row->fp : number == DW_RA ? &row->ra : NULL;
}

static void cf_set(struct row *row, uint64_t number, int kind, int64_t offset) {
  struct reg *reg = cf_reg(row, number);
  if (reg != NULL) *reg = (struct reg){ .kind = kind, .offset = offset };
}

static struct cursor cf_block(struct cursor *c) {
  uint64_t n = cf_uleb(c);
  if (n > (uint64_t)(c->end - c->at)) n = (uint64_t)(c->end - c->at);
  struct cursor block = { c->at, c->at + n };
  c->at += n;
  return block;
}

/* Runs instructions until the location passes pc. Returns 0 for an instruction that is not known. */
static int cf_run(const struct cie *cie, struct cursor c, uint64_t location, uint64_t pc, struct row *row,
                  const struct row *initial) {
  struct row saved[8];
  unsigned depth = 0;
  while (c.at < c.end) {
    uint8_t op = *c.at++;
    uint64_t low = op & 63, number, advance = 0;
    int moves = 0;
    switch (op >> 6) {
      case 1: advance = low * cie->code; moves = 1; break;
      case 2: cf_set(row, low, REG_AT, (int64_t)cf_uleb(&c) * cie->data); continue;
      case 3:
        if (cf_reg(row, low) != NULL) *cf_reg(row, low) = low == DW_FP ? initial->fp : initial->ra;
        continue;
      default: break;
    }
    if (!moves) switch (op) {
      case 0x00: continue;
      case 0x01: advance = cf_pointer(&c, cie->encoding, 0) - location; moves = 1; break;
      case 0x02: advance = cf_fixed(&c, 1) * cie->code; moves = 1; break;
      case 0x03: advance = cf_fixed(&c, 2) * cie->code; moves = 1; break;
      case 0x04: advance = cf_fixed(&c, 4) * cie->code; moves = 1; break;
      case 0x05: number = cf_uleb(&c); cf_set(row, number, REG_AT, (int64_t)cf_uleb(&c) * cie->data); continue;
      case 0x06:
        number = cf_uleb(&c);
        if (cf_reg(row, number) != NULL) *cf_reg(row, number) = number == DW_FP ? initial->fp : initial->ra;
        continue;
      case 0x07: cf_set(row, cf_uleb(&c), REG_UNDEFINED, 0); continue;
      case 0x08: cf_set(row, cf_uleb(&c), REG_SAME, 0); continue;
      case 0x09: number = cf_uleb(&c); cf_uleb(&c); cf_set(row, number, REG_OTHER, 0); continue;
      case 0x0a: if (depth == 8) return 0; saved[depth++] = *row; continue;
      case 0x0b: if (depth == 0) return 0; *row = saved[--depth]; continue;
      case 0x0c:
        row->cfa_reg = cf_uleb(&c);
        row->cfa_offset = (int64_t)cf_uleb(&c);
        row->cfa_is_expression = 0;
        continue;
      case 0x0d: row->cfa_reg = cf_uleb(&c); row->cfa_is_expression = 0; continue;
      case 0x0e: row->cfa_offset = (int64_t)cf_uleb(&c); continue;
      case 0x0f: row->cfa_expression = cf_block(&c); row->cfa_is_expression = 1; continue;
      case 0x10:
        number = cf_uleb(&c);
        cf_set(row, number, REG_EXPRESSION, 0);
        if (cf_reg(row, number) != NULL) cf_reg(row, number)->expression = cf_block(&c);
        else cf_block(&c);
        continue;
      case 0x11: number = cf_uleb(&c); cf_set(row, number, REG_AT, cf_sleb(&c) * cie->data); continue;
      case 0x12:
        row->cfa_reg = cf_uleb(&c);
        row->cfa_offset = cf_sleb(&c) * cie->data;
        row->cfa_is_expression = 0;
        continue;
      case 0x13: row->cfa_offset = cf_sleb(&c) * cie->data; continue;
      case 0x14: number = cf_uleb(&c); cf_uleb(&c); cf_set(row, number, REG_OTHER, 0); continue;
      case 0x15: number = cf_uleb(&c); cf_sleb(&c); cf_set(row, number, REG_OTHER, 0); continue;
      case 0x16: number = cf_uleb(&c); cf_block(&c); cf_set(row, number, REG_OTHER, 0); continue;
      case 0x2e: cf_uleb(&c); continue;
      default:
        if (!is_idle_instruction(op)) return 0;
        continue;
    }
    location += advance;
    if (location > pc) return 1;
  }
  return 1;
}

/* The stack or frame pointer plus a constant, perhaps dereferenced: DW_OP_breg, DW_OP_deref. Returns it, or -1. */
static int cf_simple(struct cursor c, int64_t *offset, int *is_deref) {
  if (c.at >= c.end) return -1;
  int number = *c.at++ - 0x70;
  if (number != DW_FP && number != DW_SP) return -1;
  *offset = cf_sleb(&c);
  *is_deref = c.at + 1 == c.end && *c.at == 0x06;
  return c.at == c.end || *is_deref ? number : -1;
}

static int cf_fits(int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

static struct rule cf_rule_of(const struct row *row, const struct cie *cie, uint64_t pc) {
  struct rule rule = { .kind = RULE_UNKNOWN };
  if (cie->is_signal) return (struct rule){ .kind = RULE_SIGNAL };
  if (row->ra.kind == REG_UNDEFINED) return (struct rule){ .kind = RULE_END };
  int is_in_link = HAS_LINK && row->ra.kind == REG_SAME;
  if (!is_in_link && (row->ra.kind != REG_AT || !cf_fits(row->ra.offset))) return rule;
  int64_t cfa = row->cfa_offset, fp = 0;
  uint8_t kind = RULE_UNKNOWN, fp_kind = FP_SAME;
  int is_deref = 0;
  const struct cursor *expression = &row->cfa_expression;
  int64_t of_jump = !row->cfa_is_expression ? 0 : jump_frame(expression->at, (size_t)(expression->end - expression->at), pc);
  if (of_jump != 0) {
    kind = RULE_SP;
    cfa = of_jump;
  } else if (row->cfa_is_expression) {
    int number = cf_simple(row->cfa_expression, &cfa, &is_deref);
    if (number < 0 || !is_deref) return rule;
    kind = number == DW_SP ? RULE_AT_SP : RULE_AT_FP;
  } else if (row->cfa_reg == DW_SP) kind = RULE_SP;
  else if (row->cfa_reg == DW_FP) kind = RULE_FP;
  else return rule;
  if (row->fp.kind == REG_AT) fp_kind = FP_AT_CFA, fp = row->fp.offset;
  else if (row->fp.kind == REG_EXPRESSION) {
    if (cf_simple(row->fp.expression, &fp, &is_deref) != DW_FP || is_deref) return rule;
    fp_kind = FP_AT_FP;
  } else if (row->fp.kind != REG_SAME) return rule;
  if (!cf_fits(cfa) || !cf_fits(fp)) return rule;
  return (struct rule){ kind, fp_kind, (uint8_t)is_in_link, (int32_t)cfa, (int32_t)fp, (int32_t)row->ra.offset };
}

/* The rule at pc, by the sorted table of .eh_frame_hdr. */
static struct rule cf_rule(const uint8_t *header, uint64_t pc) {
  struct rule unknown = { .kind = RULE_UNKNOWN }, none = { .kind = RULE_NONE };
  struct cursor c = { header + 4, header + 64 };
  /* Version 1, and a table of pairs of signed 32-bit offsets from the header. */
  if (header[0] != 1 || header[3] != 0x3b) return unknown;
  cf_pointer(&c, header[1], (uint64_t)(uintptr_t)header);
  uint64_t count = cf_pointer(&c, header[2], (uint64_t)(uintptr_t)header);
  const int32_t *table = (const int32_t *)(const void *)c.at;
  int64_t at = (int64_t)(pc - (uint64_t)(uintptr_t)header);
  if (count == 0 || at < table[0]) return none;
  uint64_t low = 0, high = count;
  while (high - low > 1) {
    uint64_t middle = (low + high) / 2;
    if (table[2 * middle] <= at) low = middle;
    else high = middle;
  }
  const uint8_t *fde = header + table[2 * low + 1];
  struct cursor f = { fde, fde + 8 };
  uint32_t length = (uint32_t)cf_fixed(&f, 4), back = (uint32_t)cf_fixed(&f, 4);
  struct cie cie;
  if (length == 0 || length == 0xffffffff || !cf_cie(fde + 4 - back, &cie)) return unknown;
  f.end = fde + 4 + length;
  uint64_t start = cf_pointer(&f, cie.encoding, 0), size = cf_pointer(&f, cie.encoding & 15, 0);
  if (pc < start || pc - start >= size) return none;
  if (cie.has_augmentation) cf_block(&f);
  struct row row = { .ra = { .kind = HAS_LINK ? REG_SAME : REG_OTHER } };
  if (!cf_run(&cie, cie.instructions, start, ~(uint64_t)0, &row, &row)) return unknown;
  struct row initial = row;
  if (!cf_run(&cie, f, start, pc, &row, &initial)) return unknown;
  return cf_rule_of(&row, &cie, pc);
}

#endif
