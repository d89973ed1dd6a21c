import { decodeText } from '../../event/strings.js'
import { START } from './layout.js'

const START_LINE = new RegExp(`^${START}\\r?(?:\\n|$)`)

/**
 * The first line of a trace without its start line, which the head may truncate. The text after the address
 * distinguishes a trace from the report of glibc's script, whose lines begin in the same way.
 */
const FIRST_LINE =
  /^(?:@ [^\n]*\] )?(?:[-<] (?:0x[0-9a-f]+|\(nil\)) *\r?(?:\n|$)|[+>!] (?:0x[0-9a-f]+|\(nil\))(?: 0|$))/

/** Whether bytes are the beginning of a trace. */
export function sniff(head: Uint8Array): boolean {
  const text = decodeText(head.subarray(0, 4096))
  return START_LINE.test(text) || FIRST_LINE.test(text)
}
