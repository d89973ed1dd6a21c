/** One frame of a stack, as represented by the strings of `stack`. */
export interface Frame {
  function?: string
  file?: string
  line?: number
  /** The program or library. */
  module?: string
  /** The distance of the address from the start of the module. */
  offset?: bigint
  /** The address of the instruction. */
  address?: bigint
  /** The compiler inlined the function into its caller, which is the next frame. */
  inlined?: true
}

/** The text of an unknown frame. */
const UNKNOWN = '[unknown]'
const INLINED = ' inlined'
/** `]`. */
const BRACKET = 0x5d
const ADDRESS = / \[0x([0-9a-f]{1,16})\]$/
const OFFSET = /^(.*)\+0x([0-9a-f]{1,16})$/s
const LINE = /^(.*):(0|[1-9][0-9]{0,9})$/s
/** The text that can follow a function's name; a name that contains any of it is quoted. */
const AFTER_FUNCTION = / (?:at|in)(?: |$)| \[0x| inlined$/
const BEFORE_FUNCTION = /^(?:"|(?:at|in)(?: |$)|\[0x|\[unknown\]|inlined$)/
const AFTER_FILE = /^"| in(?: |$)|(?:^| )\[0x|(?:^| )inlined$/
const AFTER_MODULE = /^"|(?:^| )\[0x|(?:^| )inlined$/

/**
 * The text of a frame: `parse at a.c:12 in /usr/bin/x+0x1f0 [0x55d0]`, without unknown parts, and with ` inlined` at
 * the end of inlined frames. A name that could be taken for another part of the text is quoted as a JSON string.
 */
export function formatFrame(frame: Frame): string {
  const { function: name, file, line, module, offset, address } = frame
  const parts: string[] = []
  if (name !== undefined) parts.push(isPlainFunction(name) ? name : JSON.stringify(name))
  if (file !== undefined) {
    const isPlain = !AFTER_FILE.test(file) && file !== '' && (line !== undefined || !LINE.test(file))
    parts.push(`at ${isPlain ? file : JSON.stringify(file)}${line === undefined ? '' : `:${line}`}`)
  }
  if (module !== undefined) {
    const isPlain = !AFTER_MODULE.test(module) && module !== '' && (offset !== undefined || !OFFSET.test(module))
    parts.push(
      `in ${isPlain ? module : JSON.stringify(module)}${offset === undefined ? '' : `+0x${offset.toString(16)}`}`,
    )
  }
  if (address !== undefined) parts.push(`[0x${address.toString(16)}]`)
  if (parts.length === 0) parts.push(UNKNOWN)
  return parts.join(' ') + (frame.inlined === true ? INLINED : '')
}

/** The name of the function in a frame's text, or the whole text. */
export function functionOfFrame(text: string): string {
  return parseFrame(text).function ?? text
}

/**
 * The short text of a frame: without module and address if the function is known; otherwise without the address if
 * the offset in the module is known.
 */
export function shortFrame(text: string): string {
  const { function: name, file, line, module, offset, address } = parseFrame(text)
  const place = file === undefined ? '' : `at ${file}${line === undefined ? '' : `:${line}`}`
  if (name !== undefined) return place === '' ? name : `${name} ${place}`
  if (module === undefined) return place === '' ? text : place
  const within =
    offset !== undefined ? `+0x${offset.toString(16)}` : address !== undefined ? ` [0x${address.toString(16)}]` : ''
  return `${place === '' ? '' : `${place} `}in ${module}${within}`
}

/**
 * The end of a frame's text, in UTF-8, without its address, if it has an offset in a module. The address differs from
 * run to run, because programs are loaded at random addresses.
 */
export function endWithoutAddress(text: Uint8Array): number {
  const end = text.length
  if (text[end - 1] !== BRACKET) return end
  let at = hexStart(text, end - 1)
  if (!endsWith(text, at, ' [0x')) return end
  const address = at - 4
  at = hexStart(text, address)
  return at < address && endsWith(text, at, '+0x') ? address : end
}

/** The start of the hexadecimal digits before `end`. */
function hexStart(text: Uint8Array, end: number): number {
  let at = end
  while (at > 0 && isHexDigit(text[at - 1])) at--
  return at
}

function isHexDigit(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66)
}

function endsWith(text: Uint8Array, end: number, what: string): boolean {
  for (let i = 1; i <= what.length; i++) if (text[end - i] !== what.charCodeAt(what.length - i)) return false
  return true
}

/** The frame that a text represents. A text of another form, as in formats with names only, is a function's name. */
export function parseFrame(text: string): Frame {
  return parse(text) ?? { function: text }
}

function parse(text: string): Frame | undefined {
  let rest = ` ${text}`
  const isInlined = rest.endsWith(INLINED)
  if (isInlined) rest = rest.slice(0, -INLINED.length)
  const address = ADDRESS.exec(rest.slice(-24))?.[1]
  if (address !== undefined) rest = rest.slice(0, -address.length - 5)
  if (rest === ` ${UNKNOWN}` && address === undefined) rest = ''

  const frame: Frame = {}
  if (rest !== '' && !rest.startsWith(' at ') && !rest.startsWith(' in ')) {
    const end = partEnd(rest, 1, [' at ', ' in '])
    const name = unquoted(rest.slice(1, end))
    if (name === undefined) return undefined
    frame.function = name
    rest = rest.slice(end)
  }
  if (rest.startsWith(' at ')) {
    const end = partEnd(rest, 4, [' in '])
    const part = numbered(rest.slice(4, end), LINE)
    if (part === undefined) return undefined
    frame.file = part.name
    if (part.number !== undefined) frame.line = Number(part.number)
    if (frame.line !== undefined && frame.line > 0xffff_ffff) return undefined
    rest = rest.slice(end)
  }
  if (rest.startsWith(' in ')) {
    const part = numbered(rest.slice(4), OFFSET)
    if (part === undefined) return undefined
    frame.module = part.name
    if (part.number !== undefined) frame.offset = BigInt(`0x${part.number}`)
    rest = ''
  }
  if (rest !== '') return undefined
  if (address !== undefined) frame.address = BigInt(`0x${address}`)
  if (isInlined) frame.inlined = true
  return frame
}

/** Whether a function's name needs no quotes. */
function isPlainFunction(name: string): boolean {
  return name !== '' && !BEFORE_FUNCTION.test(name) && !AFTER_FUNCTION.test(name)
}

/** The end of the name that begins at `start`: after its quotes, or at the first of some separators. */
function partEnd(text: string, start: number, separators: readonly string[]): number {
  if (text[start] === '"') {
    let p = start + 1
    while (p < text.length && text[p] !== '"') p += text[p] === '\\' ? 2 : 1
    // A line number may follow.
    const after = separators.map((separator) => text.indexOf(separator, p)).filter((at) => at >= 0)
    return Math.min(text.length, ...after)
  }
  return Math.min(text.length, ...separators.map((separator) => text.indexOf(separator, start)).filter((at) => at >= 0))
}

/** A name, and the number that may follow it. */
function numbered(text: string, pattern: RegExp): { name: string; number?: string } | undefined {
  if (text[0] === '"') {
    const quote = text.lastIndexOf('"')
    const name = unquoted(text.slice(0, quote + 1))
    if (name === undefined) return undefined
    if (quote === text.length - 1) return { name }
    const number = pattern.exec(`x${text.slice(quote + 1)}`)
    return number?.[1] === 'x' ? { name, number: number[2] } : undefined
  }
  const found = pattern.exec(text)
  return found === null ? { name: text } : { name: found[1], number: found[2] }
}

/** A name without its quotes; undefined if they are wrong. */
function unquoted(text: string): string | undefined {
  if (text[0] !== '"') return text
  try {
    const name: unknown = JSON.parse(text)
    return typeof name === 'string' ? name : undefined
  } catch {
    return undefined
  }
}
