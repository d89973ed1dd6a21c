import { decodeText } from '../../event/strings.js'

const CALLS = [
  /malloc|free|calloc|realloc|memalign|posix_memalign|aligned_alloc|reallocarray|strdup/.source,
  /_Zn[wa][mj]|_Zd[la]Pv[mj]?|operator (?:new|delete)(?:\[\])?/.source,
].join('|')
/**
 * Thread, time and return address before a call; the head may end after the call's name. Runs of spaces are short, so
 * that a line of spaces does not take long.
 */
const LINE = new RegExp(
  [
    /^(?:\[pid +\d+\](?= )|\d+(?= ))? {0,40}/.source,
    /(?:\d\d:\d\d:\d\d(?:\.\d{6})? |\d+\.\d{6} )?(?:\[0x[0-9a-f]+\] )? {0,40}/.source,
    `(?:(?:[^\\s()"]{1,100}->[\\w ]+|\\w+@[\\w.+-]+|SYS_\\w+|__libc_start_main|${CALLS})`,
    /\([^\n]*(?:[ )]= |<unfinished|<no return|$)/.source,
    // Many programs begin with calls of other functions. strace prints no such results.
    /|\w+\([^\n]*\) *= (?:nil|\(nil\)|<void>|")/.source,
    ')',
  ].join(''),
  'm',
)

/** Whether bytes are the beginning of a log. */
export function sniff(head: Uint8Array): boolean {
  return LINE.test(decodeText(head.subarray(0, 4096)))
}
