import { checkOptions, TEXTS, type OptionNames } from '../event/options.js'
import { eventStream } from './generator.js'
import { ADDRESS_TOOLS } from './symbols/address-tool.js'
import type { LoadedModules } from './symbols/loaded-modules.js'
import { nameFrames } from './symbols/name-frames.js'
import { Symbolizer, type SymbolizeOptions } from './symbols/symbolizer.js'
import type { EventStream } from './types.js'
import { warningsOn } from './warnings-on.js'

export type { SymbolizeOptions } from './symbols/symbolizer.js'

const OPTIONS: OptionNames<SymbolizeOptions> = {
  debugDirs: TEXTS,
  buildIds: {
    what: 'an object of strings',
    is: (value) =>
      typeof value === 'object' && value !== null && Object.values(value).every((id) => typeof id === 'string'),
  },
  tool: [...ADDRESS_TOOLS, 'none'],
}

/**
 * A Transform of `EventBatch` objects that names frames by the modules on this machine. Frames of stacks with a module
 * and an offset but no function get their function, file, line and inlined callers. Call sites with a module get the
 * function, file and line. Everything else, including the order of events, stays unchanged. The names come from
 * `llvm-symbolizer`, otherwise from `addr2line`, otherwise, and where there are no line tables, from the module's own
 * symbols, without files and lines. Emits `warning` for each module without names, and once where a tool is needed for
 * lines and is not installed. Names of a module with a build id that took 0.1 s or longer are kept for later programs
 * in `~/.cache/heapflow` (`XDG_CACHE_HOME`).
 *
 * @example
 * const named = symbolize()
 * await pipeline(createReadStream('app.raw.zst'), decompress(), decodeAny(), named, ndjson.encode(), process.stdout)
 *
 * @throws RangeError for unknown options
 */
export function symbolize(options: SymbolizeOptions = {}): EventStream<'events'> {
  checkOptions(options, OPTIONS, 'symbolize()')
  return eventStream('symbolize()', async function* (source, stream) {
    const warn = warningsOn(stream)
    let unused: Iterable<string> = Object.keys(options.buildIds ?? {})
    const open = (loaded: LoadedModules): Symbolizer => {
      const symbolizer = new Symbolizer(options, loaded)
      ;({ unused } = symbolizer)
      stream.once('close', () => symbolizer.close())
      return symbolizer
    }
    yield* nameFrames(source, open, warn, true)
    for (const module of unused) warn(`no frame that lacks a name is in ${module}, whose build id is given`)
  })
}
