import { functionOfFrame } from '../../event/frame.js'
import { showValue } from '../../event/message-text.js'
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
    const matches = this.test((this.table as StringTable).text(id))
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
    const matches = this.test(text) || this.test(functionOfFrame(text))
    this.names[id] = matches ? YES : NO
    return matches
  }

  private test(text: string): boolean {
    if (this.exact.has(text)) return true
    for (const expression of this.expressions) {
      expression.lastIndex = 0
      if (expression.test(text)) return true
    }
    return false
  }
}

/** Room for `n` entries, all UNKNOWN. */
function cleared(bytes: Uint8Array<ArrayBuffer>, n: number): Uint8Array<ArrayBuffer> {
  if (bytes.length < n) return new Uint8Array(n * 2)
  bytes.fill(UNKNOWN, 0, n)
  return bytes
}
