import { formatFrame } from '../event/frame.js'

/** A frame of a profile or a report: where no function is known, its name is a place. */
export interface NamedFrame {
  readonly name: string
  readonly file?: string | undefined
  readonly line?: number | undefined
}

const ADDRESS = /(?:^|\+| \[)0x[0-9a-f]{1,16}\]?$/

/** The text of such a frame, as stacks have it, for `OwnFrames` and `rowParts`. */
export function namedFrameText({ name, file, line }: NamedFrame): string {
  if (ADDRESS.test(name)) return formatFrame({ module: name })
  const place = { ...(file !== undefined && { file }), ...(line !== undefined && { line }) }
  return formatFrame(file !== undefined && name.startsWith(file) ? place : { function: name, ...place })
}

/** The text of a frame of a compared stack, for `rowLabels`: a name that begins with a quote is quoted. */
export function comparedFrameText(name: string): string {
  return name.startsWith('"') ? JSON.stringify(name) : name
}
