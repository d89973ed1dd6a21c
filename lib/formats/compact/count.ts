import { malformed, truncated } from '../../event/error.js'
import { acquireKernel, releaseKernel } from './kernel.js'
import {
  BLOCK_HEAD,
  CAN_BE_SKIPPED,
  CHECKSUM_BYTES,
  HEAD_BYTES,
  isBlock,
  LEVEL,
  MAX_BODY,
  place,
  SECTION,
  SECTION_HEAD,
} from './layout.js'
import { parseIndex } from './places.js'
import { filesOf, isFile, sectionAt, type ReadAt, type Source } from './seek.js'

/** The maximum number of sections that are searched for damage, so that this takes bounded time. */
const MAX_SECTIONS = 1 << 20

const KNOWN: readonly number[] = Object.values(SECTION)
/** Sections whose checksums are not needed here. */
const LONG: readonly number[] = [SECTION.trace, SECTION.block, SECTION.ending, SECTION.checkpoint, SECTION.groups]

const ADVICE = 'its events are not counted, so it has no parts: --events selects from those that can be read'

/**
 * The number of events of an input, by the indexes at the ends of its files; undefined if one of them has no index.
 * @param size of the input in bytes
 * @throws TraceError if the input is truncated, or an index or the end of a file is damaged
 */
export function countEvents(size: number, read: ReadAt): number | undefined {
  const kernel = acquireKernel(LEVEL.fast)
  try {
    const source = { read, kernel }
    const files = filesOf(size, source)
    if (Array.isArray(files)) return files.reduce((sum, { totals }) => sum + totals.events, 0)
    checkSections(size, source)
    return undefined
  } finally {
    releaseKernel(kernel)
  }
}

/**
 * Reads only the heads of these sections, and the other sections completely. @throws TraceError where one is damaged
 */
function checkSections(size: number, source: Source): void {
  let [events, offset, begins, isOpen] = [0, 0, 0, false]
  for (let n = 0; offset < size || isOpen; n++) {
    if (n === MAX_SECTIONS) return
    const at = place(offset, events)
    if (!isOpen) {
      if (!isFile(source.read(offset, HEAD_BYTES))) throw malformed(`no compact trace begins here: ${ADVICE}`, at)
      begins = offset
      offset += HEAD_BYTES
      isOpen = true
      continue
    }
    if (offset === size) throw truncated(`the end section is missing: ${ADVICE}`, at)
    const head = source.read(offset, SECTION_HEAD + BLOCK_HEAD)
    const view = new DataView(head.buffer, head.byteOffset, head.length)
    const length = head.length < SECTION_HEAD ? 0 : view.getUint32(1, true)
    const type = head[0]
    if (length > MAX_BODY || (!KNOWN.includes(type) && (type & CAN_BE_SKIPPED) === 0))
      throw malformed(`no section begins here: ${ADVICE}`, at)
    const next = offset + SECTION_HEAD + length + CHECKSUM_BYTES
    if (head.length < SECTION_HEAD || next > size) throw truncated(`the input ends within a section: ${ADVICE}`, at)
    if (isBlock(type) && length >= BLOCK_HEAD) events += view.getUint32(SECTION_HEAD, true)
    else if (!LONG.includes(type)) {
      const body = sectionAt(offset, type, length, source)
      const isIndex = type === SECTION.index
      if (body === undefined || (isIndex && parseIndex(body)?.offset !== offset - begins))
        throw malformed(`${isIndex ? 'the index' : 'a section'} is damaged: ${ADVICE}`, at)
    }
    isOpen = type !== SECTION.end
    offset = next
  }
}
