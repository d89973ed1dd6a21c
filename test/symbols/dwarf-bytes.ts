import type { DebugSections } from '../../lib/symbols/dwarf-names.js'

/** Debug information to make. */
export interface DebugShape {
  readonly version: 2 | 3 | 4 | 5
  readonly little: boolean
  readonly is64: boolean
}

const [COMPILE_UNIT, NAMESPACE, CLASS, FUNCTION] = [0x11, 0x39, 0x02, 0x2e]
const [NAME, LINKAGE_NAME, FILE, LINE, LOCATION] = [0x03, 0x6e, 0x3a, 0x3b, 0x02]
const DATA1 = 0x0b
const [ADDRESS, BLOCK, STRING, STRP, LINE_STRP, INDIRECT, IMPLICIT, FLAG] = [1, 9, 8, 0x0e, 0x1f, 0x16, 0x21, 0x19]

/** The names that `debugSections` has, by their short ones. */
export const DEBUG_NAMES: readonly (readonly [string, string])[] = [
  ['f<int>', 'outer::(anonymous namespace)::Keeper::f<int>'],
  ['g<char>', 'outer::g<char>'],
]

/** A unit with an unnamed namespace and a class in a namespace, functions in these, and one with a linkage name. */
export function debugSections({ version, little, is64 }: DebugShape): DebugSections {
  const bytesOf = (value: number, size: number) => {
    const bytes = new Uint8Array(size)
    const view = new DataView(bytes.buffer)
    if (size === 2) view.setUint16(0, value, little)
    else if (size === 4) view.setUint32(0, value, little)
    else if (size === 8) view.setBigUint64(0, BigInt(value), little)
    else bytes[0] = value
    return [...bytes]
  }
  const text = (value: string) => [...Buffer.from(`${value}\0`)]
  const offset = (value: number) => bytesOf(value, is64 ? 8 : 4)
  const str = ['', 'outer', 'Keeper', 'f<int>'].flatMap(text)
  const isNew = version === 5
  const abbreviations: readonly (readonly number[])[] = [
    [COMPILE_UNIT, 1, NAME, isNew ? LINE_STRP : STRING],
    [NAMESPACE, 1, NAME, STRP],
    [NAMESPACE, 1],
    [CLASS, 1, NAME, STRP, FILE, INDIRECT],
    [FUNCTION, 0, NAME, STRP, 0x11, ADDRESS, LINE, isNew ? IMPLICIT : DATA1, ...(isNew ? [100] : [])],
    [FUNCTION, 0, NAME, STRING, LOCATION, version === 2 ? 0x0a : BLOCK, 0x3f, version < 4 ? 0x0c : FLAG],
    [FUNCTION, 0, LINKAGE_NAME, STRING, NAME, STRING],
  ]
  const abbrev = [...abbreviations.flatMap((one, i) => [i + 1, ...one, 0, 0]), 0]
  const line = isNew ? [] : [12]
  const entries: readonly (readonly number[])[] = [
    [1, ...(isNew ? offset(0) : text('a.cc'))],
    [2, ...offset(1)],
    [3],
    [4, ...offset(7), DATA1, 1],
    [5, ...offset(14), ...bytesOf(0x1000, 8), ...line],
    [0, 0],
    [6, ...text('g<char>'), 2, 0x91, 0x70, ...(version < 4 ? [1] : [])],
    [7, ...text('_Z1hIiE'), ...text('h<int>')],
    [0, 0],
  ]
  const head = isNew ? [...bytesOf(5, 2), 1, 8, ...offset(0)] : [...bytesOf(version, 2), ...offset(0), 8]
  const length = head.length + entries.flat().length
  const info = [...(is64 ? [255, 255, 255, 255] : []), ...offset(length), ...head, ...entries.flat()]
  return {
    little,
    info: Uint8Array.from(info),
    abbrev: Uint8Array.from(abbrev),
    str: Uint8Array.from(str),
    lineStr: Uint8Array.from(text('a.cc')),
  }
}
