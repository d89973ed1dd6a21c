/** Segregated storage over an array of spans. */
import { FitModel } from './fits.js'

interface Span {
  readonly at: number
  readonly size: number
  readonly taken: boolean[]
}

const MOST_PAGES = 64
const MOST_PLACES = 4096

/** One heap. Addresses are after its start. */
export class SpanModel {
  private readonly pages: FitModel
  private spans: Span[] = []

  constructor(
    private readonly classes: readonly number[],
    private readonly page: number,
  ) {
    const rules = { choice: 'address', isDeferred: false, header: 0, alignment: 1, trim: Infinity } as const
    this.pages = new FitModel({ ...rules, smallest: page, page })
  }

  get used(): number {
    return this.pages.used
  }

  /** The size of the block for so many bytes, and whether it is of a class. */
  classOf(bytes: number, alignment = 0): { size: number; isLarge: boolean } {
    const found = this.classes.find((size) => size >= bytes && (alignment === 0 || size % alignment === 0))
    if (found !== undefined && alignment <= this.page) return { size: found, isLarge: false }
    return { size: Math.ceil(bytes / this.page) * this.page, isLarge: true }
  }

  allocate(bytes: number, alignment: number): number {
    const { size, isLarge } = this.classOf(bytes, alignment)
    if (isLarge) return this.pages.allocate(size, alignment > this.page ? alignment : 0)
    let span = this.spans
      .filter((one) => one.size === size && one.taken.includes(false))
      .toSorted((a, b) => a.at - b.at)[0]
    if (span === undefined) {
      let all = Math.ceil(size / this.page) * this.page
      while (all < MOST_PAGES * this.page && all % size > Math.floor(all / 8)) all += this.page
      const places = Math.min(Math.floor(all / size), MOST_PLACES)
      span = { at: this.pages.allocate(all, 0), size, taken: Array.from({ length: places }, () => false) }
      this.spans.push(span)
    }
    const i = span.taken.indexOf(false)
    span.taken[i] = true
    return span.at + i * size
  }

  free(at: number): void {
    const span = this.spanOf(at)
    if (span === undefined) return this.pages.free(at)
    span.taken[(at - span.at) / span.size] = false
    if (span.taken.includes(true)) return
    this.spans = this.spans.filter((one) => one !== span)
    this.pages.free(span.at)
  }

  resize(at: number, bytes: number): boolean {
    const { size, isLarge } = this.classOf(bytes)
    const span = this.spanOf(at)
    if (span !== undefined) return !isLarge && size === span.size
    return isLarge && this.pages.resize(at, size)
  }

  private spanOf(at: number): Span | undefined {
    return this.spans.find((span) => at >= span.at && at < span.at + span.size * span.taken.length)
  }
}
