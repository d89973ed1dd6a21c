import { LF } from '../text/ascii.js'
import { withoutMark } from '../text/byte-order-mark.js'
import { truncated } from '../event/error.js'
import { decodeText } from '../event/strings.js'
import { dtdNameIn, isHeadLine, MAX_HEAD } from './ascii/head.js'
import { FORMAT, hasMagic, MAGIC, parseFileHeader } from './binary/header.js'

/** The information at the beginning of a trace. */
export interface Announcement {
  readonly form: 'binary' | 'ascii'
  /** The name of the DTD, a URL as a rule; null if it names none. */
  readonly dtd: string | null
}

const HASH = 0x23

/** There is a line after the head. */
const BEHIND_HEAD = /\n[^#]/

/** Whether bytes begin like a Meta-TF trace that declares itself: in binary with a header, or in ASCII with a head. */
export function isAnnounced(head: Uint8Array): boolean {
  return isBinary(head) || isAscii(head)
}

/**
 * Whether these first bytes of a trace suffice for `announcementOf`. If not, more are needed unless the trace ends
 * here.
 */
export function isTelling(head: Uint8Array): boolean {
  if (head.length < MAGIC.length) return false
  if (isAscii(head)) return head.length > MAX_HEAD || BEHIND_HEAD.test(decodeText(head))
  if (!isBinary(head)) return true
  try {
    return parseFileHeader(head) !== null
  } catch {
    return true
  }
}

/**
 * The DTD announced by the first bytes of a trace; null for a trace that begins with records.
 * @throws TraceError if the header is malformed, or ends too soon
 */
export function announcementOf(head: Uint8Array): Announcement | null {
  if (isAscii(head)) return { form: 'ascii', dtd: dtdNameIn(decodeText(withoutMark(head).subarray(0, MAX_HEAD))) }
  if (!isBinary(head)) return null
  const header = parseFileHeader(head)
  if (header === null) throw truncated('the trace ends inside its header', { format: FORMAT, offset: 0, event: 1 })
  return { form: 'binary', dtd: header.dtd === '' ? null : header.dtd }
}

function isBinary(head: Uint8Array): boolean {
  return head.length >= MAGIC.length && hasMagic(head)
}

/** Whether the first line, as far as available, belongs to a head. */
function isAscii(bytes: Uint8Array): boolean {
  const head = withoutMark(bytes)
  if (head[0] !== HASH || head[1] !== HASH) return false
  const end = head.indexOf(LF)
  return end < 0 || isHeadLine(decodeText(head.subarray(0, end + 1)))
}

const URL_SCHEME = /^[a-z][a-z\d+.-]+:\/\//i

/**
 * The name of the file in which to look for the DTD that a trace names: the last part of a name, a path or a URL. A
 * trace may come from anywhere, so the folders in the name do not count. Undefined for a name that cannot be a file's.
 */
export function dtdFile(name: string): string | undefined {
  const base = lastPart(name)
  return base === '' || base === '.' || base === '..' || /\p{Cc}/u.test(name) ? undefined : base
}

/** Whether a name in a trace can refer to the DTD in a file: their last parts are equal, ignoring case. */
export function isNameOf(name: string, file: string): boolean {
  return lastPart(name).toLowerCase() === lastPart(file).toLowerCase()
}

/** The last part of a path or URL, with either sort of slash. */
export function lastPart(name: string): string {
  const path = URL_SCHEME.test(name) ? name.replace(/[?#].*$/s, '') : name
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
}
