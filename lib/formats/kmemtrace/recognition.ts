import { locateRecords, WINDOW, ZERO_GROUP } from './detect.js'
import { coreSize, isZero, LAYOUTS, type KmemtraceLayout } from './layout.js'

/**
 * Checks whether a reader will detect the layout of the records that are written. There is no header, so a reader can
 * only infer the layout from the first records.
 */
export class Recognition {
  /** The part of the output that a reader examines, without leading zeros, which fit all layouts. */
  private readonly head = new Uint8Array(WINDOW + ZERO_GROUP)
  private length = 0
  private isEmpty = true
  private isDecided = false

  /** @param layout one of `LAYOUTS` */
  constructor(private readonly layout: KmemtraceLayout) {}

  /**
   * Examines the next bytes of the output.
   * @param ended nothing follows them
   * @returns false, once, when they show that a reader will detect another layout
   */
  check(bytes: Uint8Array, ended = false): boolean {
    const { head } = this
    this.isEmpty &&= bytes.length === 0
    for (let at = 0; !this.isDecided;) {
      const part = bytes.subarray(at, at + head.length - this.length)
      head.set(part, this.length)
      this.length += part.length
      at += part.length
      const isLast = ended && at === bytes.length
      const { found, pos } = locateRecords(LAYOUTS, head, 0, this.length, isLast)
      head.copyWithin(0, pos, this.length)
      this.length -= pos
      if (found !== 'short') {
        this.isDecided = true
        return this.isEmpty || (found !== 'bad' && this.isRead(found))
      }
      if (at === bytes.length) break
    }
    return true
  }

  /** Whether reading with a layout yields the records that were written: for zeros, only their size matters. */
  private isRead(found: KmemtraceLayout): boolean {
    if (found === this.layout) return true
    return coreSize(found) === coreSize(this.layout) && isZero(this.head, 0, this.length)
  }
}
