import { ascii, CR, SPACE, TAB } from '../../text/ascii.js'
import { BAR } from './layout.js'

const EQUALS = 0x3d
const OPERATOR = ascii('operator')
/** The last letter of `operator`. */
const R = 0x72

/**
 * 1 for bytes that cannot start a function's name. A bar before them is part of an operator, if it can be, rather than
 * a separator.
 */
const CONTINUES = table('|(<>), \t')
/** 1 for bytes of identifiers, including bytes of UTF-8 sequences. */
const IDENTIFIER = table('_$', (char) => /\w/.test(String.fromCharCode(char)) || char >= 0x80)

function table(chars: string, also: (char: number) => boolean = () => false): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, char) =>
    chars.includes(String.fromCharCode(char)) || also(char) ? 1 : 0,
  )
}

/**
 * The end of the function name that starts at `start` in a stack crawl: at a bar, or at `end`. A bar belongs to a name
 * in `operator|`, `operator||` and `operator|=`, and only if what follows cannot start another name: the end, a space,
 * or one of `| ( < > ) ,`. So `operator||operator|=(int)|main` has the three names `operator|`, `operator|=(int)` and
 * `main`.
 */
export function frameEnd(bytes: Uint8Array, start: number, end: number): number {
  for (let p = start; p < end; p++) {
    if (bytes[p] !== BAR) continue
    const own = bytes[p - 1] === R ? operatorLength(bytes, p, start, end) : 0
    if (own === 0) return p
    p += own - 1
  }
  return end
}

/** How many bytes from the bar at `p` on form an operator named by the word `operator` before them: 0, 1 or 2. */
function operatorLength(bytes: Uint8Array, p: number, start: number, end: number): number {
  const word = p - OPERATOR.length
  if (word < start || (word > start && IDENTIFIER[bytes[word - 1]] === 1)) return 0
  for (let i = 0; i < OPERATOR.length; i++) if (bytes[word + i] !== OPERATOR[i]) return 0
  const second = bytes[p + 1]
  if (p + 1 < end && (second === BAR || second === EQUALS) && endsOperator(bytes, p + 2, end)) return 2
  return endsOperator(bytes, p + 1, end) ? 1 : 0
}

function endsOperator(bytes: Uint8Array, p: number, end: number): boolean {
  return p >= end || CONTINUES[bytes[p]] === 1
}

/** The position where a line's text ends: without trailing spaces, tabs and carriage returns. */
export function trimEnd(bytes: Uint8Array, start: number, end: number): number {
  while (end > start && (bytes[end - 1] === SPACE || bytes[end - 1] === TAB || bytes[end - 1] === CR)) end--
  return end
}
