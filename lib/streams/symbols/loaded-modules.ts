import type { EventBatch } from '../../event/batch.js'
import { FieldBit, Kind } from '../../event/fields.js'
import { encodeText } from '../../event/strings.js'
import type { LoadedPart } from '../../symbols/elf.js'

/** The maximum number of modules that are noted; further ones are not. */
export const MAX_MODULES = 65_536
/** The name of the executable in the list of modules. */
const EXECUTABLE = 'x'
const LETTER_M = 0x6d
/** The line of a module of heapflow's recorder. */
const WITH_ID = /^module 0x[0-9a-f]{1,16} (?:-|((?:[0-9a-f]{2})+)) (.+)$/s
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
      if (before !== undefined && JSON.stringify(before) !== JSON.stringify(module.parts)) this.changes++
      this.modules.set(name, module.parts)
    }
  }
}

function parse(line: string, version: number): { name: string; parts: LoadedPart[] } | undefined {
  const pattern = version < WITH_LENGTHS ? /^m ([^ ]+)((?: [0-9a-f]+)+)$/ : /^m ([0-9a-f]+ .+?)((?: [0-9a-f]+)+)$/s
  const [, text, list] = pattern.exec(line) ?? []
  if (text === undefined || list === undefined) return undefined
  const [length = '', name = ''] = version < WITH_LENGTHS ? ['', text] : splitOnce(text)
  // A name that ends in numbers is not taken for a shorter one.
  if (length !== '' && encodeText(name).length !== Number.parseInt(length, 16)) return undefined
  const numbers = list
    .slice(1)
    .split(' ')
    .slice(1)
    .map((number) => Number.parseInt(number, 16))
  if (numbers.length === 0 || numbers.length % 2 !== 0) return undefined
  const parts = Array.from({ length: numbers.length / 2 }, (_, i) => ({
    address: numbers[2 * i],
    size: numbers[2 * i + 1],
  }))
  return { name, parts }
}

function splitOnce(text: string): [string, string] {
  const at = text.indexOf(' ')
  return [text.slice(0, at), text.slice(at + 1)]
}
