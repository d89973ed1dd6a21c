import { entryOfPath } from '../formats/index.js'
import type { Format } from '../event/format.js'
import { glibcMtrace } from '../formats/glibc-mtrace/index.js'
import { hatf } from '../formats/hatf/index.js'
import { hatfAscii } from '../formats/hatf-ascii/index.js'
import { heapmon } from '../formats/heapmon/index.js'
import { kmemtrace } from '../formats/kmemtrace/index.js'
import { mtrc } from '../formats/mtrc/index.js'
import { replay } from '../formats/replay/index.js'
import { tracepoints } from '../formats/tracepoints/index.js'
import { ndjson } from '../formats/ndjson/index.js'

/**
 * Every format with its codec, in the order of the catalogue. Commands use the catalogue instead, which loads what is
 * needed.
 */
export const FORMATS: readonly Format[] = [mtrc, ndjson, kmemtrace, glibcMtrace, tracepoints, replay, heapmon, hatfAscii, hatf]

/** The format of this name, such as `mtrc`. */
export function formatNamed(name: string): Format | undefined {
  return FORMATS.find((format) => format.name === name)
}

/** The format that a file's name stands for, by the longest ending that fits; `.gz` at its end does not matter. */
export function formatOfPath(path: string): Format | undefined {
  const entry = entryOfPath(path)
  return entry && formatNamed(entry.name)
}

/** The format of a stream that begins with these bytes. */
export function sniffFormat(head: Uint8Array): Format | undefined {
  return FORMATS.find((format) => format.sniff(head))
}
