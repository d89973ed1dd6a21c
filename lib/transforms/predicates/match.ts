import { parseFrame } from '../../event/frame.js'
import { showText, showValue } from '../../event/message-text.js'
import type { StringTable } from '../../event/strings.js'

/** A test of names: a string matches the whole name, a regular expression matches anywhere in it. */
export type NamePattern = string | RegExp

const UNKNOWN = 0
const NO = 1
const YES = 2

/**
 * Whether the strings of a batch match any of some patterns. Each distinct string is decoded and tested once per batch,
 * however many events have it.
 */
export class NameTest {
  private readonly exact: ReadonlySet<string>
  private readonly expressions: readonly RegExp[]
  private table: StringTable | undefined
  /** The result for each string of the table. */
  private names = new Uint8Array(0)
  /** The result for each list of the table. */
  private lists = new Uint8Array(0)
  private hasMatched = false
  /** Whether there were frames, and whether any had a function. */
  private hasFrames = false
  private hasFunctions = false
  /** A name that is a wanted one with more after it, and the wanted one. */
  private longer: { readonly name: string; readonly wanted: string } | undefined

  /** @throws RangeError for what is neither a string nor a regular expression: it would match nothing */
  constructor(patterns: readonly NamePattern[]) {
    for (const pattern of patterns)
      if (typeof pattern !== 'string' && !(pattern instanceof RegExp))
        throw new RangeError(`not a name or a regular expression: ${showValue(pattern)}`)
    this.exact = new Set(patterns.filter((pattern) => typeof pattern === 'string'))
    // Copies, because a test moves the lastIndex of expressions with the flags g and y.
    this.expressions = patterns.filter((pattern) => pattern instanceof RegExp).map((pattern) => new RegExp(pattern))
  }

  /** Starts with the strings of another batch. */
  begin(table: StringTable): void {
    this.table = table
    this.names = cleared(this.names, table.size)
    this.lists = cleared(this.lists, table.listCount)
  }

  /** Whether the string with an id matches. */
  name(id: number): boolean {
    const known = this.names[id]
    if (known !== UNKNOWN) return known === YES
    const text = (this.table as StringTable).text(id)
    const matches = this.test(text)
    if (!matches) this.refuse(text)
    this.names[id] = matches ? YES : NO
    return matches
  }

  /** Whether any string of a list, or the function that it names as the text of a frame, matches. */
  list(id: number): boolean {
    const known = this.lists[id]
    if (known !== UNKNOWN) return known === YES
    const matches = (this.table as StringTable).listView(id).some((frame) => this.frame(frame))
    this.lists[id] = matches ? YES : NO
    return matches
  }

  /** Whether the text of a frame matches, or the function in it. */
  private frame(id: number): boolean {
    const known = this.names[id]
    if (known !== UNKNOWN) return known === YES
    const text = (this.table as StringTable).text(id)
    this.hasFrames = true
    const { function: name } = parseFrame(text)
    this.hasFunctions ||= name !== undefined
    const matches = this.test(text) || (name !== undefined && name !== text && this.test(name))
    if (!matches && name !== undefined) this.refuse(name)
    this.names[id] = matches ? YES : NO
    return matches
  }

  /** Why nothing matched, as a sentence, where that may be a misunderstanding. */
  get doubt(): string | undefined {
    const { hasMatched, hasFrames, hasFunctions, longer } = this
    if (hasMatched) return undefined
    if (longer !== undefined) {
      const [wanted, name] = [longer.wanted, longer.name].map((text) => showText(text))
      return `no name is ${wanted}, but ${name} is one: give whole names, or /a regular expression/`
    }
    return hasFrames && !hasFunctions
      ? 'no frame has a function, so no name matches: hf-symbolize adds them'
      : undefined
  }

  private test(text: string): boolean {
    const matches = this.exact.has(text) || this.expressions.some((expression) => isFound(expression, text))
    this.hasMatched ||= matches
    return matches
  }

  /** Notes a name that did not match. */
  private refuse(name: string): void {
    if (this.hasMatched || this.longer !== undefined) return
    const end = name.search(/[(<]/)
    const wanted = name.slice(0, Math.max(0, end))
    if (this.exact.has(wanted)) this.longer = { name, wanted }
  }
}

function isFound(expression: RegExp, text: string): boolean {
  expression.lastIndex = 0
  return expression.test(text)
}

/** Room for `n` entries, all UNKNOWN. */
function cleared(bytes: Uint8Array<ArrayBuffer>, n: number): Uint8Array<ArrayBuffer> {
  if (bytes.length < n) return new Uint8Array(n * 2)
  bytes.fill(UNKNOWN, 0, n)
  return bytes
}
