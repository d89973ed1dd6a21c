import { decodeText } from '../../event/strings.js'
import { START } from './layout.js'

/** A first line where the one that traces begin with is missing; the head may end inside it. */
const FIRST_LINE = /^(?:@ [^\n]*\] )?[-+<>!] (?:0x[0-9a-f]|\(nil\))/

/** Whether bytes are the beginning of a trace. */
export function sniff(head: Uint8Array): boolean {
  const text = decodeText(head.subarray(0, 4096))
  return text === START || text.startsWith(`${START}\n`) || FIRST_LINE.test(text)
}
