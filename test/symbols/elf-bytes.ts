/** An ELF file to make. */
export interface ElfShape {
  readonly is64: boolean
  readonly little: boolean
  /** The number of functions, 1 by default: each of 32 bytes from 0x1000 on, the first called main, then f1, f2 ... */
  readonly symbols?: number
  /** The number of symbol tables, which are all of the same bytes; 1 by default. */
  readonly tables?: number
  /** The bytes of its `.gnu_debuglink`, if it has one. */
  readonly link?: Uint8Array
}

/** A small file: a header, a note with the build id abcd0102, symbol tables, and their strings. */
export function elfFile({ is64, little, symbols = 1, tables = 1, link }: ElfShape): Uint8Array {
  const [symbolSize, sectionSize] = is64 ? [24, 64] : [16, 40]
  const functions = ['', 'main', ...Array.from({ length: symbols - 1 }, (_, i) => `f${i + 1}`)]
  const names = link === undefined ? functions : [...functions, '.gnu_debuglink']
  const strings = new TextEncoder().encode(`${names.join('\0')}\0`)
  const stringsAt = 160
  const symbolsAt = (stringsAt + strings.length + 7) & ~7
  const linkAt = symbolsAt + symbols * symbolSize
  const sections = (linkAt + (link?.length ?? 0) + 7) & ~7
  const count = 3 + tables + (link === undefined ? 0 : 1)
  const bytes = new Uint8Array(sections + count * sectionSize)
  const view = new DataView(bytes.buffer)
  const half = (at: number, value: number) => view.setUint16(at, value, little)
  const word = (at: number, value: number) => view.setUint32(at, value, little)
  const long = (at: number, value: number) =>
    is64 ? view.setBigUint64(at, BigInt(value), little) : view.setUint32(at, value, little)
  bytes.set([0x7f, 0x45, 0x4c, 0x46, is64 ? 2 : 1, little ? 1 : 2, 1])
  long(is64 ? 40 : 32, sections)
  half(is64 ? 58 : 46, sectionSize)
  half(is64 ? 60 : 48, count)
  half(is64 ? 62 : 50, 2)
  const section = (i: number, type: number, offset: number, size: number, link: number) => {
    const at = sections + i * sectionSize
    word(at + 4, type)
    long(at + (is64 ? 24 : 16), offset)
    long(at + (is64 ? 32 : 20), size)
    word(at + (is64 ? 40 : 24), link)
  }
  section(1, 7, 128, 20, 0)
  section(2, 3, stringsAt, strings.length, 0)
  for (let i = 0; i < tables; i++) section(3 + i, 2, symbolsAt, symbols * symbolSize, 2)
  if (link !== undefined) {
    section(3 + tables, 1, linkAt, link.length, 0)
    word(sections + (3 + tables) * sectionSize, strings.length - '.gnu_debuglink'.length - 1)
    bytes.set(link, linkAt)
  }
  word(128, 4)
  word(132, 4)
  word(136, 3)
  bytes.set([0x47, 0x4e, 0x55, 0], 140)
  bytes.set([0xab, 0xcd, 0x01, 0x02], 144)
  bytes.set(strings, stringsAt)
  let name = 1
  for (let i = 0; i < symbols; i++) {
    const at = symbolsAt + i * symbolSize
    word(at, name)
    name += names[i + 1].length + 1
    bytes[at + (is64 ? 4 : 12)] = 2
    half(at + (is64 ? 6 : 14), 1)
    long(at + (is64 ? 8 : 4), 0x1000 + 32 * i)
    long(at + (is64 ? 16 : 8), 32)
  }
  return bytes
}
