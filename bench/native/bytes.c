#include "bytes.h"

const uint8_t PAIRS[] =
  "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
  "5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

const uint8_t *long_decimal(const uint8_t *p, uint64_t *value) {
  const uint8_t *start = p;
  uint64_t sum = 0;
  for (unsigned digit; (digit = *p - '0') <= 9; p++) {
    if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, digit, &sum)) return NULL;
  }
  *value = sum;
  return p == start ? NULL : p;
}

const uint8_t *long_hex(const uint8_t *p, uint64_t *value) {
  const uint8_t *start = p;
  uint64_t sum = 0;
  for (unsigned digit; (digit = hex_value(*p)) <= 15; p++) {
    if (sum >> 60 != 0) return NULL;
    sum = sum << 4 | digit;
  }
  *value = sum;
  return p == start ? NULL : p;
}
