import { formatFrame, type Frame } from '../../event/frame.js'
import { decodeText, encodeText, StringTable } from '../../event/strings.js'
import { SPACE } from '../../text/ascii.js'

/**
 * `ffffffff8162e91f kfree+0x20f ([kernel.kallsyms])`, with `-F` perhaps without offset or module. A symbol may be
 * `operator new(unsigned)`.
 */
const OF_PERF = /^([0-9a-f]+) (?:(.+)\+0x[0-9a-f]+|(.+?))(?: \((.+)\))?$/s
/**
 * `=> kfree`, `=> kfree+0x20f/0x3a0 [ext4]`, `=> kfree <ffffffff8162e91f>`, `=> kfree (ffffffff8162e91f)` or, where the
 * function is unknown, `=> 0xffffffff8162e91f`.
 */
const OF_FTRACE = /^=> +(.+?)(?:\+0x[^ ]+)?(?: \[([^ \]]+)\])?(?: [<(](?:0x)?([0-9a-f]{1,16})[>)])?$/s
const ADDRESS = /^(?:0x)?([0-9a-f]{8,16})$/
const UNKNOWN = '[unknown]'
const KERNEL = '[kernel.kallsyms]'

/** The strings of events with the texts of frames in place of those of the trace. */
export function withFrames(strings: StringTable): StringTable {
  if (strings.listCount === 0) return strings
  const table = new StringTable()
  for (let id = 0; id < strings.size; id++) {
    const bytes = strings.view(id)
    if (bytes[0] <= SPACE) table.add(encodeText(formatFrame(frameOf(decodeText(bytes.subarray(1))))))
    else table.addFrom(strings, id)
  }
  for (let list = 0; list < strings.listCount; list++) table.addList(strings.listView(list))
  return table
}

function frameOf(text: string): Frame {
  const [, at, symbol, plain = symbol, object = UNKNOWN] = OF_PERF.exec(text) ?? []
  if (at !== undefined) {
    const module = object === 'inlined' || object === UNKNOWN || object === KERNEL ? undefined : moduleOf(object)
    return {
      ...(plain !== UNKNOWN && { function: plain }),
      ...(module !== undefined && { module }),
      ...(at !== '0' && { address: BigInt(`0x${at}`) }),
      ...(object === 'inlined' && { inlined: true as const }),
    }
  }
  const [, name = text, module, after] = OF_FTRACE.exec(text) ?? []
  const alone = ADDRESS.exec(name)?.[1]
  const address = after ?? alone
  return {
    ...(alone === undefined && { function: name }),
    ...(module !== undefined && { module }),
    ...(address !== undefined && { address: BigInt(`0x${address}`) }),
  }
}

/** `ext4` of `[ext4]`. */
function moduleOf(object: string): string {
  return /^\[(.+)\]$/.exec(object)?.[1] ?? object
}
