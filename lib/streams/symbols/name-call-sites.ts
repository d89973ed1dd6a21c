import { HI, LO, SAFE_HI, WORD } from '../../bytes/u64.js'
import { reviseBatch, type EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import type { StringTable } from '../../event/strings.js'
import type { Names } from './namer.js'
import type { Symbolizer } from './symbolizer.js'

const { function: HAS_FUNCTION, file: HAS_FILE, line: HAS_LINE } = FieldBit
const HAS_SOURCE = HAS_FUNCTION | HAS_FILE | HAS_LINE
const HAS_SITE = FieldBit.module | FieldBit.callSite
const MANGLED = /^_[ZR]/

/** The offsets of call sites, by the string id of the module. */
type RawCallSites = ReadonlyMap<number, ReadonlySet<number>>

/** The call sites of a batch that have a module and no file; undefined if there are none. */
export function rawCallSites(batch: EventBatch): RawCallSites | undefined {
  if ((batch.columns & HAS_SITE) !== HAS_SITE) return undefined
  const sites = new Map<number, Set<number>>()
  for (let i = 0; i < batch.count; i++) {
    const offset = offsetOf(batch, i)
    if (offset < 0) continue
    const module = batch.module[i]
    const offsets = sites.get(module)
    if (offsets === undefined) sites.set(module, new Set([offset]))
    else offsets.add(offset)
  }
  return sites.size === 0 ? undefined : sites
}

/**
 * The distance of a call from the start of its module; -1 if event i has none, or has a file. The call site is the
 * address to which the call returns: the call ends one byte before it.
 */
function offsetOf({ mask, callSite: { words } }: EventBatch, i: number): number {
  if ((mask[i] & (HAS_SITE | HAS_FILE)) !== HAS_SITE) return -1
  const hi = words[2 * i + HI]
  return hi > SAFE_HI ? -1 : hi * WORD + words[2 * i + LO] - 1
}

/**
 * A batch whose call sites have names: the same one if there are none. A call site without a function gets the
 * innermost one, with its file and line; one with a function gets the file and line in that function, whose name is
 * demangled.
 */
export async function namedSites(batch: EventBatch, sites: RawCallSites, symbolizer: Symbolizer): Promise<EventBatch> {
  const strings = batch.strings.copy()
  const places = new Map<number, ReadonlyMap<number, Place>>()
  for (const [module, offsets] of sites) {
    const found = await symbolizer.names(strings.text(module), Array.from(offsets, BigInt))
    const known = new Map<number, Place>()
    for (const offset of offsets) {
      const names = found.get(BigInt(offset)) ?? []
      if (names.length > 0) known.set(offset, placeOf(names, strings))
    }
    if (known.size > 0) places.set(module, known)
  }
  return places.size === 0 ? batch : renamed(batch, strings, places)
}

/** What a call site gets: string ids and a line; -1 for what is not known. */
interface Source {
  readonly function: number
  readonly file: number
  readonly line: number
}

interface Place {
  /** The innermost function. */
  readonly inner: Source
  /** The function that contains the address, into which the others were inlined. */
  readonly outer: Source
}

function placeOf(names: Names, strings: StringTable): Place {
  const id = (text: string | undefined): number => (text === undefined ? -1 : strings.internText(text))
  const source = ({ function: name, file, line = -1 }: Names[number]): Source => ({
    function: id(name),
    file: id(file),
    line,
  })
  return { inner: source(names[0]), outer: source(names[names.length - 1]) }
}

function renamed(
  batch: EventBatch,
  strings: StringTable,
  places: ReadonlyMap<number, ReadonlyMap<number, Place>>,
): EventBatch {
  const target = reviseBatch(batch, HAS_SOURCE, strings)
  const { mask } = target
  const mangled = new Map<number, boolean>()
  const isMangled = (name: number): boolean => {
    const known = mangled.get(name) ?? MANGLED.test(strings.text(name))
    mangled.set(name, known)
    return known
  }
  for (let i = 0; i < batch.count; i++) {
    const fields = mask[i]
    const name = (fields & HAS_FUNCTION) !== 0 ? batch.function[i] : -1
    if (name >= 0) target.function[i] = name
    if ((fields & HAS_FILE) !== 0) target.file[i] = batch.file[i]
    if ((fields & HAS_LINE) !== 0) target.line[i] = batch.line[i]
    const offset = offsetOf(batch, i)
    const place = offset < 0 ? undefined : places.get(batch.module[i])?.get(offset)
    if (place === undefined) continue
    const isNamed = name >= 0 && strings.view(name).length > 0
    const source = isNamed ? place.outer : place.inner
    if (source.function >= 0 && (!isNamed || isMangled(name))) target.function[i] = source.function
    if (source.file >= 0) target.file[i] = source.file
    if (source.line >= 0) target.line[i] = source.line
    mask[i] =
      fields |
      (source.function >= 0 ? HAS_FUNCTION : 0) |
      (source.file >= 0 ? HAS_FILE : 0) |
      (source.line >= 0 ? HAS_LINE : 0)
  }
  return target
}
