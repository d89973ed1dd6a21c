/* Words in memory, and numbers in text. */
#pragma once
#include "columns.h"

static inline uint64_t load64(const uint8_t *at) {
  uint64_t value;
  memcpy(&value, at, 8);
  return value;
}
static inline uint32_t load32(const uint8_t *at) {
  uint32_t value;
  memcpy(&value, at, 4);
  return value;
}
static inline uint16_t load16(const uint8_t *at) {
  uint16_t value;
  memcpy(&value, at, 2);
  return value;
}
static inline void store64(uint8_t *at, uint64_t value) { memcpy(at, &value, 8); }
static inline void store32(uint8_t *at, uint32_t value) { memcpy(at, &value, 4); }

/*
 * p + n where n is likely to be `usual`: a branch, which is predicted, so that later instructions need not wait for n.
 */
static inline const uint8_t *advance(const uint8_t *p, unsigned n, unsigned usual) {
  if (n != usual) return p + n;
  p += usual;
  __asm__("" : "+r"(p));
  return p;
}

/* The two digits of each number below 100. */
extern const uint8_t PAIRS[];

/* The value of a hex digit; more than 15 for other characters. */
static inline unsigned hex_value(uint8_t byte) {
  unsigned number = byte - (unsigned)'0', letter = (byte | 32) - (unsigned)'a';
  return number <= 9 ? number : letter <= 5 ? letter + 10 : 255;
}

/*
 * Any number of digits, one by one, for numbers that the readers below do not handle. NULL if there are none, or too
 * many.
 */
const uint8_t *long_decimal(const uint8_t *p, uint64_t *value);
const uint8_t *long_hex(const uint8_t *p, uint64_t *value);

#ifdef __SSE4_1__
#include <immintrin.h>

static const uint8_t ALIGN_RIGHT[32] = {
  128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
};

/* Moves the first n bytes to the end, with zeros before them. */
static inline __m128i align_right(__m128i bytes, unsigned n) {
  return _mm_shuffle_epi8(bytes, _mm_loadu_si128((const __m128i *)(ALIGN_RIGHT + n)));
}

/* The number of leading set bits in a mask of 16. */
static inline unsigned run_of(__m128i mask) {
  return (unsigned)__builtin_ctz(~(unsigned)_mm_movemask_epi8(mask));
}

/* A decimal number of 64 bits. The position after it, or NULL if there is none or it is too large. */
static inline const uint8_t *decimal(const uint8_t *p, uint64_t *value) {
  __m128i digits = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)p), _mm_set1_epi8('0'));
  unsigned n = run_of(_mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits));
  if (n == 1) {
    *value = (unsigned)(*p - '0');
    return p + 1;
  }
  if (unlikely(n - 1 > 14)) return long_decimal(p, value);
  __m128i pairs = _mm_maddubs_epi16(align_right(digits, n), _mm_set1_epi16(0x010a));
  __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x00010064));
  __m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(0x00012710));
  uint64_t both = (uint64_t)_mm_cvtsi128_si64(eights);
  *value = (both & 0xffffffff) * 100000000 + (both >> 32);
  return p + n;
}

/* A hex number of 64 bits, likewise. */
static inline const uint8_t *hex(const uint8_t *p, uint64_t *value) {
  __m128i text = _mm_loadu_si128((const __m128i *)p);
  __m128i numbers = _mm_sub_epi8(text, _mm_set1_epi8('0'));
  __m128i letters = _mm_sub_epi8(_mm_or_si128(text, _mm_set1_epi8(32)), _mm_set1_epi8('a'));
  __m128i is_number = _mm_cmpeq_epi8(_mm_min_epu8(numbers, _mm_set1_epi8(9)), numbers);
  __m128i is_letter = _mm_cmpeq_epi8(_mm_min_epu8(letters, _mm_set1_epi8(5)), letters);
  unsigned n = run_of(_mm_or_si128(is_number, is_letter));
  if (unlikely(n - 1 > 14)) return long_hex(p, value);
  __m128i digits = _mm_blendv_epi8(numbers, _mm_add_epi8(letters, _mm_set1_epi8(10)), is_letter);
  __m128i pairs = _mm_maddubs_epi16(align_right(digits, n), _mm_set1_epi16(0x0110));
  *value = __builtin_bswap64((uint64_t)_mm_cvtsi128_si64(_mm_packus_epi16(pairs, pairs)));
  return advance(p, n, 12);
}
#else
static inline const uint8_t *decimal(const uint8_t *p, uint64_t *value) {
  unsigned digit = *p - '0';
  if (digit > 9) return NULL;
  const uint8_t *start = p;
  uint64_t sum = 0;
  do {
    sum = sum * 10 + digit;
    digit = *++p - '0';
  } while (digit <= 9);
  if (unlikely(p - start > 19)) return long_decimal(start, value);
  *value = sum;
  return p;
}

static inline const uint8_t *hex(const uint8_t *p, uint64_t *value) {
  unsigned digit = hex_value(*p);
  if (digit > 15) return NULL;
  const uint8_t *start = p;
  uint64_t sum = 0;
  do {
    sum = sum << 4 | digit;
    digit = hex_value(*++p);
  } while (digit <= 15);
  if (unlikely(p - start > 16)) return long_hex(start, value);
  *value = sum;
  return p;
}
#endif

/* Writes a number in decimal. 24 bytes may be written. */
static inline uint8_t *put_decimal(uint8_t *out, uint64_t value) {
  if (value < 10) {
    *out = (uint8_t)('0' + value);
    return out + 1;
  }
  if (value < 100) {
    memcpy(out, PAIRS + 2 * value, 2);
    return out + 2;
  }
  if (value < 10000) {
    uint32_t high = (uint32_t)value / 100, low = (uint32_t)value % 100;
    uint32_t digits = (uint32_t)load16(PAIRS + 2 * high) | (uint32_t)load16(PAIRS + 2 * low) << 16;
    unsigned short_by = value < 1000;
    store32(out, digits >> 8 * short_by);
    return out + 4 - short_by;
  }
  uint8_t text[32];
  unsigned at = 22;
  while (value >= 100) {
    memcpy(text + (at -= 2), PAIRS + 2 * (value % 100), 2);
    value /= 100;
  }
  if (value >= 10) memcpy(text + (at -= 2), PAIRS + 2 * value, 2);
  else text[--at] = (uint8_t)('0' + value);
  memcpy(out, text + at, 8);
  if (22 - at > 8) memcpy(out + 8, text + at + 8, 22 - at - 8);
  return out + (22 - at);
}

/* Writes a number in hex. 16 bytes may be written. */
static inline uint8_t *put_hex(uint8_t *out, uint64_t value) {
  unsigned n = (unsigned)(67 - __builtin_clzll(value | 1)) / 4;
#ifdef __SSE4_1__
  __m128i bytes = _mm_cvtsi64_si128((long long)__builtin_bswap64(value << (64 - 4 * n)));
  __m128i nibbles = _mm_unpacklo_epi8(_mm_and_si128(_mm_srli_epi16(bytes, 4), _mm_set1_epi8(15)), _mm_and_si128(bytes, _mm_set1_epi8(15)));
  __m128i digits = _mm_setr_epi8('0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f');
  _mm_storeu_si128((__m128i *)out, _mm_shuffle_epi8(digits, nibbles));
#else
  for (unsigned i = 0; i < n; i++) out[i] = (uint8_t)"0123456789abcdef"[value >> 4 * (n - 1 - i) & 15];
#endif
  return out + n;
}
