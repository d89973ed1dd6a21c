import { reviseBatch, type EventBatch } from '../../event/batch.js'
import { FieldBit, fieldSet } from '../../event/fields.js'
import { StringTable } from '../../event/strings.js'
import { HAS_SITE } from '../statistics/site-keys.js'
import { TOGETHER, type GroupNames } from './functions.js'

const HAS_STACK = FieldBit.stack
const HAS_FUNCTION = FieldBit.function
/** What refers to the strings of the batch, or is a part of a site. */
const REMOVED = HAS_SITE | fieldSet('type', 'text')
const UNKNOWN = -1

/**
 * Gives the events of a trace other sites: a name for the stack, or the function, of each, as its function. Then the
 * statistics of sites are those of the names: what was live of each at a time, too.
 */
export class RenamedSites {
  private source: StringTable | undefined
  private names = new StringTable()
  private byStack = new Int32Array(0)
  private byFunction = new Int32Array(0)
  /** Of each string, as the text of a frame: whether it matches. */
  private matches = new Int32Array(0)

  constructor(private readonly group: GroupNames) {}

  /** A batch of the same events, which shares columns with the given one. It has no other strings. */
  rename(batch: EventBatch): EventBatch {
    if ((batch.columns & HAS_SITE) === 0) return batch
    this.begin(batch.strings)
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
      if ((fields & HAS_STACK) !== 0) names[i] = this.ofStack(batch.stack[i])
      else names[i] = (fields & HAS_FUNCTION) !== 0 ? this.ofFunction(batch.function[i]) : none
    }
    return target
  }

  private begin(strings: StringTable): void {
    if (strings !== this.source) {
      this.source = strings
      this.names = new StringTable()
      this.byStack = new Int32Array(0)
      this.byFunction = new Int32Array(0)
      this.matches = new Int32Array(0)
    }
    // Batches may share a table that grows.
    this.byStack = withRoom(this.byStack, strings.listCount)
    this.byFunction = withRoom(this.byFunction, strings.size)
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

  private ofFunction(id: number): number {
    const known = this.byFunction[id]
    if (known !== UNKNOWN) return known
    return (this.byFunction[id] = this.names.internText(this.group.nameOf([(this.source as StringTable).text(id)])))
  }
}

/** At least n entries, of which the new ones are unknown. */
function withRoom(entries: Int32Array<ArrayBuffer>, n: number): Int32Array<ArrayBuffer> {
  if (n <= entries.length) return entries
  const more = new Int32Array(Math.max(n, 2 * entries.length)).fill(UNKNOWN)
  more.set(entries)
  return more
}
