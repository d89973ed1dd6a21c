/**
 * Transposes a square of 32 times 32 bits in place: bit j of word i becomes bit i of word j. So the masks of 32 events
 * become a word of each field that has a bit for each event, and the other way round.
 * @param words the square is `words[at..at + 32)`
 */
export function transpose(words: Uint32Array, at: number): void {
  let mask = 0x0000_ffff
  for (let width = 16; width !== 0; mask ^= mask << (width >>= 1)) {
    for (let i = 0; i < 32; i = ((i | width) + 1) & ~width) {
      const low = at + i
      const high = low + width
      const other = ((words[low] as number) >>> width) ^ (words[high] as number)
      const swapped = other & mask
      words[high] = (words[high] as number) ^ swapped
      words[low] = (words[low] as number) ^ (swapped << width)
    }
  }
}
