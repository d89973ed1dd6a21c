import { reviseBatch, type EventBatch } from '../../event/batch.js'
import { FieldBit, fieldSet } from '../../event/fields.js'
import { StringTable } from '../../event/strings.js'
import { Form, formOf, HAS_SITE, NO_FORM } from '../statistics/site-keys.js'
import { TOGETHER, type GroupNames } from './functions.js'

const { function: HAS_FUNCTION, line: HAS_LINE, module: HAS_MODULE } = FieldBit
/** The fields that refer to the strings of the batch, or are a part of a site. */
const REMOVED = HAS_SITE | fieldSet('type', 'text')
const UNKNOWN = -1
const NONE = new Int32Array(0)

/** A field that may name a place without a stack. */
type PlaceField = 'function' | 'file' | 'module'

/**
 * Gives the events of a trace other sites: a name for the stack, or the function, of each, as its function. Then the
 * statistics of sites are statistics of the names, including what was live of each at a time.
 */
export class RenamedSites {
  private source: StringTable | undefined
  private names = new StringTable()
  private byStack = NONE
  /** For each string, its name as the function, the file or the module of a place without a stack. */
  private byPlace = { function: NONE, file: NONE, module: NONE }
  /** For each string, whether it matches as the text of a frame. */
  private matches = NONE

  constructor(private readonly group: GroupNames) {}

  /** A batch of the same events, which shares columns with the given one. It has no other strings. */
  rename(batch: EventBatch): EventBatch {
    if ((batch.columns & HAS_SITE) === 0) return batch
    this.begin(batch)
    const target = reviseBatch(batch, HAS_FUNCTION, this.names)
    const { mask, function: names } = target
    const none = this.names.internText('')
    for (let i = 0; i < batch.count; i++) {
      const fields = mask[i]
      if ((fields & HAS_SITE) === 0) {
        mask[i] = fields & ~REMOVED
        continue
      }
      mask[i] = (fields & ~REMOVED) | HAS_FUNCTION
      const form = formOf(fields, (fields & HAS_LINE) !== 0 ? batch.line[i] : 0)
      if (form === Form.stack) names[i] = this.ofStack(batch.stack[i])
      else if (form === Form.source) names[i] = this.ofSource(batch, i, none)
      else if (form !== NO_FORM && (fields & HAS_MODULE) !== 0) names[i] = this.ofPlace('module', batch.module[i])
      else names[i] = none
    }
    return target
  }

  private begin({ strings, columns }: EventBatch): void {
    if (strings !== this.source) {
      this.source = strings
      this.names = new StringTable()
      this.byStack = this.matches = NONE
      this.byPlace = { function: NONE, file: NONE, module: NONE }
    }
    // Batches may share a table that grows.
    this.byStack = withRoom(this.byStack, strings.listCount)
    for (const field of ['function', 'file', 'module'] as const)
      if ((columns & FieldBit[field]) !== 0) this.byPlace[field] = withRoom(this.byPlace[field], strings.size)
    this.matches = withRoom(this.matches, strings.size)
  }

  private ofStack(list: number): number {
    const known = this.byStack[list]
    if (known !== UNKNOWN) return known
    const frames = (this.source as StringTable).listView(list)
    const name = this.group.isTogether ? this.nameTogether(frames) : this.nameOfRow(frames)
    return (this.byStack[list] = this.names.internText(name))
  }

  private nameTogether(frames: Uint32Array): string {
    const { matches, group } = this
    const strings = this.source as StringTable
    for (const id of frames) {
      if (matches[id] === UNKNOWN) matches[id] = group.isMatch(strings.text(id)) ? 1 : 0
      if (matches[id] === 1) return TOGETHER
    }
    return ''
  }

  private nameOfRow(frames: Uint32Array): string {
    const { group } = this
    const strings = this.source as StringTable
    const texts = function* () {
      for (const id of frames) yield strings.text(id)
    }
    const start = group.own.start(texts())
    return frames.length === 0 ? '' : group.nameOf([strings.text(frames[start])])
  }

  /** The name of a function, or else of a file. An empty name is none. */
  private ofSource(batch: EventBatch, i: number, none: number): number {
    const fields = batch.mask[i]
    const strings = this.source as StringTable
    if ((fields & HAS_FUNCTION) !== 0 && strings.text(batch.function[i]) !== '')
      return this.ofPlace('function', batch.function[i])
    return (fields & FieldBit.file) !== 0 ? this.ofPlace('file', batch.file[i]) : none
  }

  private ofPlace(field: PlaceField, id: number): number {
    const known = this.byPlace[field]
    if (known[id] === UNKNOWN) {
      const text = (this.source as StringTable).text(id)
      known[id] = this.names.internText(this.group.nameOfPlace({ [field]: text }))
    }
    return known[id]
  }
}

/** At least n entries. New entries are unknown. */
function withRoom(entries: Int32Array<ArrayBuffer>, n: number): Int32Array<ArrayBuffer> {
  if (n <= entries.length) return entries
  const more = new Int32Array(Math.max(n, 2 * entries.length)).fill(UNKNOWN)
  more.set(entries)
  return more
}
