import type { EventBatch } from '../../event/batch.js'
import { FieldBit, Kind } from '../../event/fields.js'
import { encodeText } from '../../event/strings.js'
import type { LoadedPart } from '../../symbols/elf.js'

/** The maximum number of modules that are noted; further ones are not. */
export const MAX_MODULES = 65_536
/** The name of the executable in the list of modules. */
const EXECUTABLE = 'x'
const LETTER_M = 0x6d
const SPACE = 0x20
/** The first version in which strings have their length before them. */
const WITH_LENGTHS = 3

/**
 * The parts of modules in memory, as raw heaptrack files have them in lines that become comments:
 * `m NAME BASE (ADDRESS SIZE)*`. They tell a module from another file at its path, where there are no build ids.
 */
export class LoadedModules {
  private readonly modules = new Map<string, readonly LoadedPart[]>()

  /** The parts of a module, if they are known. */
  of(module: string): readonly LoadedPart[] | undefined {
    return this.modules.get(module)
  }

  /** Notes the modules that a batch names. */
  note({ columns, header, count, kind, mask, text, strings }: EventBatch): void {
    if ((columns & FieldBit.text) === 0 || header.format !== 'heaptrack' || header.layout?.['raw'] !== true) return
    const { executable, version } = header.layout
    for (let i = 0; i < count; i++) {
      if (kind[i] !== Kind.comment || ((mask[i] as number) & FieldBit.text) === 0) continue
      const [first, second] = strings.view(text[i] as number)
      if (first !== LETTER_M || second !== SPACE || this.modules.size >= MAX_MODULES) continue
      const module = parse(strings.text(text[i] as number), Number(version))
      if (module === undefined) continue
      const isExecutable = module.name === EXECUTABLE && typeof executable === 'string'
      this.modules.set(isExecutable ? executable : module.name, module.parts)
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
    address: numbers[2 * i] as number,
    size: numbers[2 * i + 1] as number,
  }))
  return { name, parts }
}

function splitOnce(text: string): [string, string] {
  const at = text.indexOf(' ')
  return [text.slice(0, at), text.slice(at + 1)]
}
