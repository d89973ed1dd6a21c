import type { EventBatch } from '../../event/batch.js'
import { FieldBit, Kind } from '../../event/fields.js'
import { decodeText, encodeText } from '../../event/strings.js'
import { MAX_LINE } from '../../formats/heaptrack/layout.js'
import type { LoadedPart } from '../../symbols/elf.js'

/** The maximum number of modules that are noted; further ones are not. */
export const MAX_MODULES = 65_536
/** The maximum number of their parts in memory. */
export const MAX_PARTS = 1_048_576
/** No file of a longer path can be opened. */
const MAX_PATH = 4096
/** The name of the executable in the list of modules. */
const EXECUTABLE = 'x'
const LETTER_M = 0x6d
/** The line of a module of heapflow's recorder. */
const WITH_ID = /^module 0x[0-9a-f]{1,16} (?:-|((?:[0-9a-f]{2}){1,64})) (.{1,4096})$/s
const SPACE = 0x20
/** The first version in which strings have their length before them. */
const WITH_LENGTHS = 3

/**
 * The data of traces about modules, in comments. It tells a module from another file at its path:
 * - heapflow's recorder: `module BASE BUILD-ID PATH`
 * - raw heaptrack files: `m NAME BASE (ADDRESS SIZE)*`, with the parts in memory, and without build ids
 */
export class LoadedModules {
  /** The number of times that a path became another module's. */
  changes = 0
  private readonly modules = new Map<string, readonly LoadedPart[]>()
  /** The number of their parts. */
  private parts = 0
  private readonly ids = new Map<string, string>()

  /** The parts of a module, if they are known. */
  of(module: string): readonly LoadedPart[] | undefined {
    return this.modules.get(module)
  }

  /** The build id of a module in hexadecimal, if it is known. */
  buildId(module: string): string | undefined {
    return this.ids.get(module)
  }

  /** Notes the modules that a batch names. */
  note(batch: EventBatch): void {
    if ((batch.columns & FieldBit.text) === 0) return
    const { format, layout } = batch.header
    if (format === 'recorder') this.noteIds(batch)
    else if (format === 'heaptrack' && layout?.['raw'] === true) this.noteParts(batch)
  }

  private noteIds({ count, kind, mask, text, strings }: EventBatch): void {
    for (let i = 0; i < count; i++) {
      if (kind[i] !== Kind.comment || (mask[i] & FieldBit.text) === 0) continue
      if (strings.view(text[i])[0] !== LETTER_M || this.ids.size >= MAX_MODULES) continue
      const [, id, path] = WITH_ID.exec(strings.text(text[i])) ?? []
      if (path === undefined) continue
      if (this.ids.has(path) && this.ids.get(path) !== id) this.changes++
      if (id === undefined) this.ids.delete(path)
      else this.ids.set(path, id)
    }
  }

  private noteParts({ header, count, kind, mask, text, strings }: EventBatch): void {
    const { executable, version } = header.layout ?? {}
    for (let i = 0; i < count; i++) {
      if (kind[i] !== Kind.comment || (mask[i] & FieldBit.text) === 0) continue
      const [first, second] = strings.view(text[i])
      if (first !== LETTER_M || second !== SPACE || this.modules.size >= MAX_MODULES) continue
      const module = parse(strings.text(text[i]), Number(version))
      if (module === undefined) continue
      const isExecutable = module.name === EXECUTABLE && typeof executable === 'string'
      const name = isExecutable ? executable : module.name
      const before = this.modules.get(name)
      const parts = this.parts + module.parts.length - (before?.length ?? 0)
      if (parts > MAX_PARTS) continue
      this.parts = parts
      if (before !== undefined && JSON.stringify(before) !== JSON.stringify(module.parts)) this.changes++
      this.modules.set(name, module.parts)
    }
  }
}

function parse(line: string, version: number): { name: string; parts: LoadedPart[] } | undefined {
  // No trace of heaptrack has longer lines.
  const found = line.length > MAX_LINE ? undefined : version < WITH_LENGTHS ? plainName(line) : namedByLength(line)
  if (found === undefined || found.name.length > MAX_PATH || !/^(?: [0-9a-f]+)+$/.test(found.list)) return undefined
  const numbers = found.list
    .slice(1)
    .split(' ')
    .slice(1)
    .map((number) => Number.parseInt(number, 16))
  if (numbers.length === 0 || numbers.length % 2 !== 0) return undefined
  const parts = Array.from({ length: numbers.length / 2 }, (_, i) => ({
    address: numbers[2 * i],
    size: numbers[2 * i + 1],
  }))
  return { name: found.name, parts }
}

/** The name of a module, and the numbers that follow it. */
interface NameAndList {
  readonly name: string
  readonly list: string
}

function plainName(line: string): NameAndList | undefined {
  const end = line.indexOf(' ', 2)
  // A copy: a part of a string would keep all of it.
  return end > 2 ? { name: decodeText(encodeText(line.slice(2, end))), list: line.slice(end) } : undefined
}

function namedByLength(line: string): NameAndList | undefined {
  const [, length, rest] = /^m ([0-9a-f]{1,8}) (.*)$/s.exec(line) ?? []
  if (length === undefined || rest === undefined) return undefined
  const bytes = encodeText(rest)
  const end = Number.parseInt(length, 16)
  return end === 0 ? undefined : { name: decodeText(bytes.subarray(0, end)), list: decodeText(bytes.subarray(end)) }
}
