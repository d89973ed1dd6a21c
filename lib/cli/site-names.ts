import { batchesOf, type EventBatch, type TraceEvent } from '../event/batch.js'
import { modifiedAt } from '../streams/io/file-status.js'
import { LoadedModules } from '../streams/symbols/loaded-modules.js'
import type { ShortLivedSite } from '../transforms/simulate/lifetimes/predictor.js'

/** Names the few sites of a trace that are shown, where the other events need no names. */
export class SiteNames {
  private readonly loaded = new LoadedModules()

  /** Notes what a batch says of modules. */
  note(batch: EventBatch): void {
    this.loaded.note(batch)
  }

  /** The sites with the names that the modules of this machine have. @param path the file of the trace */
  async named(sites: readonly ShortLivedSite[], path: string): Promise<readonly ShortLivedSite[]> {
    const framed = sites.filter(({ site }) => site.stack !== undefined)
    if (framed.length === 0) return sites
    const { nameFrames } = await import('../streams/symbols/name-frames.js')
    const { Symbolizer } = await import('../streams/symbols/symbolizer.js')
    const open = () => new Symbolizer({}, this.loaded, { before: modifiedAt(path) ?? Infinity })
    const events = framed.map(({ site: { stack = [] } }): TraceEvent => ({ kind: 'alloc', stack: [...stack] }))
    const source = async function* () {
      yield* batchesOf(events)
    }
    const stacks: string[][] = []
    for await (const batch of nameFrames(source(), open, () => {}))
      for (const { stack = [] } of batch) stacks.push([...stack])
    return sites.map((one) => (one.site.stack === undefined ? one : { ...one, site: { stack: stacks.shift() ?? [] } }))
  }
}
