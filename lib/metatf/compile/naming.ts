import { Has } from '../../event/fields.js'
import type { Mapping, RecordMapping } from '../mapping.js'
import type { Dtd } from '../model.js'
import { fieldsIn } from './columns.js'
import { imported } from './imports.js'
import type { LoopSection } from './loopable.js'
import { Names, block, camelCase, comment, pascalCase, type Code, type Language } from './source.js'

/** A record in a loop: its mapping, its name in comments, and the variable with its layout. */
export interface LoopRecord extends RecordMapping {
  readonly name: string
  readonly layout: string
}

/** What the functions of a section are made of. */
export interface LoopNames {
  readonly read: string
  readonly readLittle: string
  readonly write: string
  /** The records in words. */
  readonly what: string
  readonly tagWidth: number
  readonly records: readonly LoopRecord[]
  /** The IDs of the sections that the loops are for. */
  readonly sections: readonly number[]
  readonly mapping: Mapping
}

/**
 * Names that no type of a record may have: those of what the module imports and makes itself, and those of the language
 * that it uses.
 */
const RESERVED = [...imported, 'TraceRecord', 'Array', 'Iterable', 'Record', 'Uint8Array', 'Uint32Array']

/** How things are called and typed in one language. */
export class Naming {
  readonly types = new Names(RESERVED)

  constructor(readonly language: Language) {
    this.number = this.number.bind(this)
    this.operand = this.operand.bind(this)
    this.typed = this.typed.bind(this)
  }

  /** An element of an array as a number, where it stands alone. */
  number(expression: string): string {
    return this.typed(expression, 'number')
  }

  /** The same as an operand of an operator. */
  operand(expression: string): string {
    return this.language === 'ts' ? `(${this.number(expression)})` : expression
  }

  /** An expression of which only people know the type. */
  typed(expression: string, type: string): string {
    return this.language === 'ts' ? `${expression} as ${type}` : expression
  }

  /** A function that reads or writes records. */
  loop(name: string, cursor: string, doc: string, body: Code): Code {
    if (this.language === 'ts')
      return [...comment(doc), ...block(`function ${name}(batch: EventBatch, cursor: ${cursor}): void`, body)]
    const tags = ["@param {import('heapflow').EventBatch} batch", `@param {import('heapflow/metatf').${cursor}} cursor`]
    return [...comment(doc, ...tags), ...block(`function ${name}(batch, cursor)`, body)]
  }

  /** The fields of `given` that have columns to be filled: those of kinds with a meaning. */
  static givenFields(given: number): number[] {
    return fieldsIn(given & (Has.outcome | Has.api | Has.code))
  }
}

/** The names for the loops of all sections; those that have the very same records share them. */
export function nameLoops(sections: readonly LoopSection[], dtd: Dtd, mapping: Mapping): LoopNames[] {
  const groups = new Map<string, { section: LoopSection; ids: number[] }>()
  for (const section of sections) {
    const key = section.records.map(({ position }) => position).join(' ')
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { section, ids: [section.section.id] })
    else group.ids.push(section.section.id)
  }
  const functions = new Names([])
  return [...groups.values()].map(({ section: { section, records }, ids }) => {
    const name = functions.take(section.id === 0 ? 'Records' : pascalCase(section.name))
    const layouts = new Names([])
    return {
      read: `readBig${name}`,
      readLittle: `readLittle${name}`,
      write: `write${name}`,
      what: `records of ${section.id === 0 ? 'the global section' : `section ${section.name}`}`,
      tagWidth: dtd.tagWidth as number,
      records: records.map((record) => ({
        ...record,
        name: record.record.name,
        layout: layouts.take(`${camelCase(record.record.name)}Layout`),
      })),
      sections: ids,
      mapping,
    }
  })
}
