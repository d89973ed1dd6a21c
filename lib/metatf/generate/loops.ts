import type { BinaryReader } from '../binary/reader.js'
import type { EventWriter } from '../event-writer.js'
import type { AsciiReader } from '../ascii/reader.js'
import { mappingOf, type Mapping, type RecordMapping } from '../mapping.js'
import type { Dtd } from '../model.js'
import { RUNTIME } from './runtime.js'
import type { Code, Target } from './code.js'
import { readLoop, writeLoop } from './loop-code.js'

/** Reads records, from where the reader is, until there comes one for which it is not made. */
export type ReadLoop = (run: BinaryReader | AsciiReader) => void
/** Writes events, from where the writer is, until there comes one for which it is not made. */
export type WriteLoop = (run: EventWriter) => void

/** The generated code for some records that follow each other in the mapping. */
export interface Loops {
  readonly readBig: ReadLoop
  /** Not for lines. */
  readonly readLittle: ReadLoop
  readonly write: WriteLoop
}

/** The version of what generated code and the runtime expect of each other. To be raised with each change there. */
export const LOOPS_VERSION = 2

/** Loops that were printed as a module. */
export interface PrintedLoops {
  /** `LOOPS_VERSION` of the heapflow that printed them. */
  readonly version: number
  readonly loops: readonly Loops[]
}

/**
 * The engine does not optimise functions of more than 60 kB of bytecode. A loop has some 100 bytes for each leaf, so
 * that one is for so many leaves at most; a record with more has one of its own, in which calls do all the work.
 */
const MAX_LEAVES = 200

/** The names of the functions of `Loops`. */
export type LoopName = keyof Loops

/** The records of a DTD in the groups that loops are for. */
export function groupsOf({ records }: Mapping): readonly (readonly RecordMapping[])[] {
  const groups: RecordMapping[][] = []
  let leaves = Infinity
  for (const record of records) {
    leaves += record.leaves.length
    if (leaves > MAX_LEAVES) {
      groups.push([])
      leaves = record.leaves.length
    }
    groups[groups.length - 1].push(record)
  }
  return groups
}

/** The body of a function `(run)`. The texts that it needs are added to `texts`, which it knows as `k`. */
export function loopCode(
  dtd: Dtd,
  group: readonly RecordMapping[],
  name: LoopName,
  texts: string[],
  isPrinted = false,
): Code {
  const binary = dtd.version === '1.0'
  const target: Target = {
    binary,
    tagWidth: dtd.tagWidth ?? 0,
    maxValues: binary ? 'MAX_VALUES' : 'MAX_LINE_VALUES',
    isPrinted,
    inline: group.length > 1 || group[0].leaves.length <= MAX_LEAVES,
    texts,
  }
  if (name === 'write') return writeLoop(group, target)
  return readLoop(group, target, name === 'readLittle' ? 'little' : 'big')
}

/** The loops of a DTD: each is made when it is first used, unless it was printed before. */
export class Codec {
  readonly mapping: Mapping
  private readonly groups: readonly (readonly RecordMapping[])[]
  /** By record, the group that it is in. */
  private readonly groupOf: Uint16Array
  private readonly loops: Partial<Loops>[]

  /** The loops of a module. @throws Error if another version of heapflow made it */
  static of(dtd: Dtd, { version, loops }: PrintedLoops): Codec {
    if (version === LOOPS_VERSION) return new Codec(dtd, loops)
    throw new Error('this reader and writer was compiled by another version of heapflow: run metatf-compile again')
  }

  /** @throws Error if the loops have to be generated, and the engine does not allow that */
  constructor(
    private readonly dtd: Dtd,
    printed?: readonly Loops[],
  ) {
    this.mapping = mappingOf(dtd)
    this.groups = groupsOf(this.mapping)
    this.groupOf = new Uint16Array(this.mapping.records.length)
    for (const [g, group] of this.groups.entries()) for (const { position } of group) this.groupOf[position] = g
    if (printed === undefined) checkGeneration()
    this.loops = printed === undefined ? this.groups.map(() => ({})) : [...printed]
  }

  /** The loop of a name for the record at a position of the mapping. */
  loop<Name extends LoopName>(name: Name, position: number): Loops[Name] {
    const g = this.groupOf[position]
    const loops = this.loops[g]
    return (loops[name] ??= this.make(g, name) as Loops[Name])
  }

  private make(g: number, name: LoopName): ReadLoop | WriteLoop {
    const texts: string[] = []
    const code = loopCode(this.dtd, this.groups[g], name, texts)
    const source = `'use strict'\nconst { ${Object.keys(RUNTIME).join(', ')} } = runtime\nreturn function (run) {\n${code.join('\n')}\n}`
    // oxlint-disable-next-line no-new-func, no-implied-eval
    return (new Function('runtime', 'k', source) as Factory)(RUNTIME, texts)
  }
}

type Factory = (runtime: typeof RUNTIME, texts: readonly string[]) => ReadLoop & WriteLoop

/** @throws Error if the engine does not allow code to be generated */
function checkGeneration(): void {
  try {
    // oxlint-disable-next-line no-new-func, no-implied-eval
    Function()
  } catch (error) {
    throw new Error(
      'Meta-TF definitions and hatf-ascii need generated code, which --disallow-code-generation-from-strings forbids: ' +
        'run node without this option, or use a module made by metatf-compile',
      { cause: error },
    )
  }
}

const CODECS = new WeakMap<Dtd, Codec>()

/** The loops of a DTD, which all its readers and writers share. */
export function codecOf(dtd: Dtd): Codec {
  let codec = CODECS.get(dtd)
  if (codec === undefined) CODECS.set(dtd, (codec = new Codec(dtd)))
  return codec
}
