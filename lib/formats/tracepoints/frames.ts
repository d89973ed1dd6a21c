import { formatFrame, type Frame } from '../../event/frame.js'
import { decodeText, encodeText, StringTable } from '../../event/strings.js'
import { LF } from '../../text/ascii.js'

/** The address at the end of a line of ftrace. */
const AFTER = /(?<=.) [<(](?:0x)?([0-9a-f]{1,16})[>)]$/
const MOST_AFTER = 21
const ADDRESS = /^(?:0x)?([0-9a-f]{8,16})$/
const UNKNOWN = '[unknown]'
const KERNEL = '[kernel.kallsyms]'

/** The strings of events with the texts of frames in place of those of the trace. */
export function withFrames(strings: StringTable): StringTable {
  if (strings.listCount === 0) return strings
  const table = new StringTable()
  for (let id = 0; id < strings.size; id++) {
    const bytes = strings.view(id)
    if (bytes[0] === LF) table.add(encodeText(formatFrame(frameOf(decodeText(bytes.subarray(1))))))
    else table.addFrom(strings, id)
  }
  for (let list = 0; list < strings.listCount; list++) table.addList(strings.listView(list))
  return table
}

function frameOf(text: string): Frame {
  return text.startsWith('=> ') ? ofFtrace(text.slice(3).trimStart()) : ofPerf(text)
}

/**
 * `ffffffff8162e91f kfree+0x20f ([kernel.kallsyms])`, with `-F` perhaps without offset or module. A symbol may be
 * `operator new(unsigned)`.
 */
function ofPerf(text: string): Frame {
  const [at = ''] = text.split(' ', 1)
  const rest = text.slice(at.length + 1)
  const end = offsetIn(rest) ?? objectIn(rest, 1)
  const name = rest.slice(0, end)
  const begin = objectIn(rest, end)
  const object = begin < rest.length ? rest.slice(begin + 2, -1) : UNKNOWN
  const module = object === 'inlined' || object === UNKNOWN || object === KERNEL ? undefined : moduleOf(object)
  return {
    ...(name !== UNKNOWN && name !== '' && { function: name }),
    ...(module !== undefined && { module }),
    ...(at !== '0' && { address: BigInt(`0x${at}`) }),
    ...(object === 'inlined' && { inlined: true as const }),
  }
}

/** The last place of `+0x20f`, before ` (OBJECT)` or at the end; undefined if there is none. */
function offsetIn(text: string): number | undefined {
  const after = /[0-9a-f]+(?= \(|$)/y
  for (let at = text.lastIndexOf('+0x'); at > 0; at = text.lastIndexOf('+0x', at - 1)) {
    after.lastIndex = at + 3
    if (after.test(text) && (after.lastIndex === text.length || objectIn(text, after.lastIndex) < text.length))
      return at
  }
  return undefined
}

/** The first place of ` (OBJECT)` from `from` on, which goes to the end; else the end. */
function objectIn(text: string, from: number): number {
  const at = text.indexOf(' (', from)
  return at >= 0 && text.endsWith(')') && text.length - at > 3 ? at : text.length
}

/**
 * `kfree`, `kfree+0x20f/0x3a0 [ext4]`, `kfree <ffffffff8162e91f>`, `kfree (ffffffff8162e91f)` or, where the function is
 * unknown, `0xffffffff8162e91f`.
 */
function ofFtrace(text: string): Frame {
  const [whole = '', after] = AFTER.exec(text.slice(-MOST_AFTER)) ?? []
  let name = text.slice(0, text.length - whole.length)
  const bracket = name.endsWith(']') ? name.lastIndexOf(' [') : -1
  const module = bracket > 0 ? name.slice(bracket + 2, -1) : undefined
  if (module !== undefined) name = name.slice(0, bracket)
  const offset = name.indexOf('+0x', Math.max(1, name.lastIndexOf(' ')))
  if (offset > 0) name = name.slice(0, offset)
  const alone = ADDRESS.exec(name)?.[1]
  const address = after ?? alone
  return {
    ...(alone === undefined && name !== '' && { function: name }),
    ...(module !== undefined && { module }),
    ...(address !== undefined && { address: BigInt(`0x${address}`) }),
  }
}

/** `ext4` of `[ext4]`. */
function moduleOf(object: string): string {
  return /^\[(.+)\]$/.exec(object)?.[1] ?? object
}
