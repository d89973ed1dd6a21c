import { reviseBatch, type EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import type { StringTable } from '../../event/strings.js'
import type { Warn } from '../../reading/run-stage.js'
import { KnownFrames, type FrameNames } from './known-frames.js'
import { LoadedModules } from './loaded-modules.js'
import { namedSites, rawCallSites } from './name-call-sites.js'
import { NamedTree } from './named-tree.js'
import type { Symbolizer } from './symbolizer.js'

/** Stacks with more frames are left as they are, so that inlined frames cannot fill the memory. */
const MAX_NAMED = 65_536

/**
 * Names the frames of batches, and their call sites, too. Stacks whose frames all have names are passed on unchanged.
 * @param open called at the first one that lacks a name, with what the trace says of its modules
 * @param hasCallSites whether call sites get names: nothing in a trace tells their modules from other builds of them
 */
export async function* nameFrames(
  source: AsyncIterable<EventBatch>,
  open: (loaded: LoadedModules) => Symbolizer | Promise<Symbolizer>,
  warn: Warn,
  hasCallSites = false,
): AsyncGenerator<EventBatch> {
  const loaded = new LoadedModules()
  const frames = new KnownFrames()
  const tree = new NamedTree()
  let symbolizer: Symbolizer | undefined
  const opened = async () => (symbolizer ??= await open(loaded))
  let warned = 0
  try {
    for await (const batch of source) {
      const { changes } = loaded
      loaded.note(batch)
      if (loaded.changes > changes) {
        frames.forget()
        symbolizer?.forget()
      }
      const hasNames = (batch.columns & FieldBit.stack) !== 0 && (await frames.find(batch.strings, opened))
      const framed = hasNames ? named(batch, frames, tree) : batch
      const sites = hasCallSites ? rawCallSites(batch) : undefined
      yield sites === undefined ? framed : await namedSites(framed, sites, await opened())
      while (symbolizer !== undefined && warned < symbolizer.warnings.length) warn(symbolizer.warnings[warned++])
    }
  } finally {
    symbolizer?.close()
  }
}

/** A batch with the names of its frames, of which some have one. */
function named(batch: EventBatch, frames: KnownFrames, tree: NamedTree): EventBatch {
  const { strings: source } = batch
  if (source.tree === undefined) {
    const strings = source.copy()
    return renamed(batch, strings, frames.addTo(strings))
  }
  const strings = source.copyStrings()
  tree.rename(source, source.tree, strings, frames.addTo(strings))
  // Its lists have the numbers of the others, so it shares their column.
  return reviseBatch(batch, 0, strings)
}

/** A batch whose stacks have other frames. */
function renamed(batch: EventBatch, strings: StringTable, { at, list: ids }: FrameNames): EventBatch {
  const target = reviseBatch(batch, FieldBit.stack, strings)
  const lists = new Map<number, number>()
  for (let i = 0; i < batch.count; i++) {
    if ((batch.mask[i] & FieldBit.stack) === 0) continue
    const list = batch.stack[i]
    let now = lists.get(list)
    if (now === undefined) {
      const frames: number[] = []
      strings.listView(list).forEach((id, _, { length }) => {
        const place = length <= MAX_NAMED ? at[id] : 0
        if (place === 0) frames.push(id)
        else for (let n = 1; n <= ids[place]; n++) frames.push(ids[place + n])
      })
      now = strings.addList(frames)
      lists.set(list, now)
    }
    target.stack[i] = now
  }
  return target
}
