import { fileURLToPath } from 'node:url'

const MAGIC = [0x28, 0xb5, 0x2f, 0xfd]

/** The text of `ZSTD_FILE`: a dump of memory_replay. */
export const LINES = Buffer.from(
  Array.from({ length: 8000 }, (_, i) => `${i % 7}: malloc 0x${(i * 48).toString(16)} ${(i * 7919) % 5000}\n`).join(''),
)

/** What `zstd -19` made of it: one frame with several blocks and a checksum. */
export const ZSTD_FILE = fileURLToPath(new URL('zstd/dump.txt.zst', import.meta.url))

/** A frame of at most 255 bytes, not compressed. */
export function rawFrame(text: string): Buffer {
  const content = Buffer.from(text)
  const word = (content.length << 3) | 1
  return Buffer.from([...MAGIC, 0x20, content.length, word, word >> 8, word >> 16, ...content])
}

/** A frame of blocks that repeat one byte. */
export function rleFrame(blocks: number, size = 131_072, window = 131_072): Buffer {
  const header = Buffer.from([...MAGIC, 0, (Math.log2(window) - 10) << 3])
  const block = (isLast: boolean) => {
    const word = (size << 3) | 2 | (isLast ? 1 : 0)
    return Buffer.from([word, word >> 8, word >> 16, 0x0a])
  }
  return Buffer.concat([header, ...Array.from({ length: blocks }, (_, i) => block(i === blocks - 1))])
}

/** A frame for other programs. */
export function skippable(length: number): Buffer {
  const bytes = Buffer.alloc(8 + length, 0x28)
  bytes.writeUInt32LE(0x184d2a53, 0)
  bytes.writeUInt32LE(length, 4)
  return bytes
}
