import { parseFrame } from '../../event/frame.js'
import { wellFormed } from '../../event/message-text.js'
import type { Frame } from './profile.js'

/** Longer names are truncated, so that a profile with hostile names remains readable. */
export const MAX_NAME = 4096
const UNKNOWN_NAME = '[unknown]'

/**
 * A frame of a stack from its text: `parse (parse.c:12)` and `parse at parse.c:12` have a function, a file and a line.
 * If the function is unknown, the frame is the module with the offset in it, or with the address.
 */
export function frameOf(text: string): Frame {
  const { function: name, file, line, module, offset, address } = parseFrame(text)
  if (file !== undefined || module !== undefined) {
    if (name !== undefined || module === undefined) {
      const frame = sourceFrame(name, file, line === 0 ? undefined : line)
      return module === undefined || module === '' ? frame : { ...frame, module: cut(module) }
    }
    return offset === undefined ? addressFrame(module, address) : offsetFrame(module, offset)
  }
  if (address !== undefined && name === undefined) return addressFrame(undefined, address)
  if (name !== undefined && text.startsWith('"')) {
    const quoted = JSON.stringify(name)
    if (text.startsWith(quoted)) return { name: cut(name + text.slice(quoted.length)) }
  }
  const open = text.lastIndexOf(' (')
  const colon = text.lastIndexOf(':')
  if (open < 1 || colon < open + 3 || !text.endsWith(')')) return { name: cut(text) }
  const digits = text.slice(colon + 1, -1)
  if (!/^[1-9]\d{0,8}$/.test(digits)) return { name: cut(text) }
  return { name: cut(text.slice(0, open)), file: cut(text.slice(open + 2, colon)), line: Number(digits) }
}

/** The frame of a function, a file and a line, of which some are known. */
export function sourceFrame(name: string | undefined, file: string | undefined, line: number | undefined): Frame {
  const place = { ...(file !== undefined && { file: cut(file) }), ...(line !== undefined && { line }) }
  if (name !== undefined && name !== '') return { name: cut(name), ...place }
  if (file === undefined || file === '')
    return line === undefined ? { name: UNKNOWN_NAME } : { name: `line ${line}`, line }
  return { name: cut(line === undefined ? file : `${file}:${line}`), ...place }
}

/** The frame of an address in a module, of which one may be unknown. */
export function addressFrame(module: string | undefined, address: bigint | undefined): Frame {
  const known = module === undefined || module === '' ? undefined : cut(module)
  // A module without a name also counts as a site.
  const unnamed = module === undefined ? UNKNOWN_NAME : '[unnamed module]'
  if (address === undefined) return { name: known ?? unnamed, ...(known !== undefined && { module: known }) }
  const text = `0x${address.toString(16)}`
  return known === undefined ? { name: text, address } : { name: `${known} [${text}]`, module: known, address }
}

function offsetFrame(path: string, offset: bigint): Frame {
  const module = cut(path)
  return { name: `${module}+0x${offset.toString(16)}`, module, address: offset, isOffset: true }
}

/** A frame in one line: `parse (parse.c:12)`. */
export function frameText({ name, file, line }: Frame): string {
  if (file === undefined || name.startsWith(file)) return name
  return `${name} (${file}${line === undefined ? '' : `:${line}`})`
}

/** A name that is not empty, not too long, and without unpaired surrogates. */
function cut(name: string): string {
  return name === '' ? UNKNOWN_NAME : boundedName(name)
}

/**
 * A name without unpaired surrogates, of at most `MAX_NAME` characters and a note: the length and a hash of the rest,
 * so that different names hardly ever become equal.
 */
export function boundedName(name: string): string {
  if (name.length <= MAX_NAME) return wellFormed(name)
  let hash = 0x811c_9dc5
  for (let i = MAX_NAME; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x0100_0193)
  const rest = (hash >>> 0).toString(16).padStart(8, '0')
  return wellFormed(`${name.slice(0, MAX_NAME)}[and ${name.length - MAX_NAME} more, ${rest}]`)
}
