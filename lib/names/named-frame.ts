import { formatFrame } from '../event/frame.js'

/** A frame of a profile or a report: where no function is known, its name is a place. */
export interface NamedFrame {
  readonly name: string
  readonly file?: string | undefined
  readonly line?: number | undefined
}

/** What ends the name of a place without a function. A comparison leaves out digits of addresses that moved. */
const ADDRESS = /(?:^|\+| \[)0x(?:\.\.\.)?[0-9a-f]{1,16}\]?$/
/** What ends `parse (parse.c:12)`, as in comparisons that tell lines apart. */
const LINE = /:([1-9]\d{0,8})\)$/

/** The text of such a frame, as stacks have it, for `OwnFrames` and `rowParts`. */
export function namedFrameText({ name, file, line }: NamedFrame): string {
  if (ADDRESS.test(name)) return name.startsWith('0x') ? `[${name}]` : `in ${name}`
  const place = { ...(file !== undefined && { file }), ...(line !== undefined && { line }) }
  return formatFrame(file !== undefined && name.startsWith(file) ? place : { function: name, ...place })
}

/** The text of a frame of a compared stack, likewise. */
export function comparedFrameText(text: string): string {
  const line = LINE.exec(text)
  const open = line === null ? -1 : text.lastIndexOf(' (', line.index)
  if (line === null || open < 1 || open + 2 >= line.index) return namedFrameText({ name: text })
  return namedFrameText({ name: text.slice(0, open), file: text.slice(open + 2, line.index), line: Number(line[1]) })
}
