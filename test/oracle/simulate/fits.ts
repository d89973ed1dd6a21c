/** First, next and best fit over an array of segments in the order of their addresses. */
interface Segment {
  at: number
  size: number
  isFree: boolean
  /** When it became free, among all that did. */
  freed: number
  /** Its place on the stack of those that wait to be merged; 0: it does not. */
  waits: number
}

export const BASE = 2 ** 45

/** How a heap of segments behaves. */
export interface FitRules {
  readonly choice: 'address' | 'lifo' | 'fifo' | 'next' | 'best'
  readonly isDeferred: boolean
  readonly header: number
  readonly alignment: number
  readonly smallest: number
  readonly page: number
  readonly trim: number
}

const up = (value: number, to: number) => Math.ceil(value / to) * to

/** One heap. Addresses are those of segments. */
export class FitModel {
  private row: Segment[] = []
  private top: number
  private limit = 0
  private rover = 0
  private time = 0
  private waited = 0
  searches = 0
  examined = 0

  constructor(private readonly rules: FitRules) {
    this.top = up(rules.header, rules.alignment) - rules.header
  }

  get used(): number {
    return this.limit
  }

  sizeAt(at: number): number {
    return this.find(at).size
  }

  allocate(size: number, alignment: number): number {
    const { header, smallest, isDeferred } = this.rules
    const wanted = alignment === 0 ? size : size + 2 * alignment + smallest
    let found = this.search(wanted)
    if (found === undefined && this.row.some(({ waits }) => waits > 0)) {
      this.mergeAll()
      found = this.search(wanted)
    }
    const leadOf = (at: number) => {
      let lead = up(at + header, alignment) - header - at
      while (lead !== 0 && lead < smallest) lead += alignment
      return lead
    }
    let block: Segment
    let lead = 0
    const freed = found?.freed ?? 0
    if (found !== undefined) {
      block = found
      block.isFree = false
      block.waits = 0
      if (alignment !== 0) lead = leadOf(block.at)
    } else {
      if (alignment !== 0) lead = leadOf(this.top)
      block = { at: this.top, size: lead + size, isFree: false, freed: 0, waits: 0 }
      this.row.push(block)
      this.extend(lead + size)
    }
    if (lead > 0) {
      const rest = { at: block.at + lead, size: block.size - lead, isFree: false, freed: 0, waits: 0 }
      this.row.splice(this.row.indexOf(block) + 1, 0, rest)
      block.size = lead
      this.release(block)
      block = rest
    }
    const rest = block.size - size
    if (rest >= smallest) {
      block.size = size
      if (this.row.at(-1) === block) this.top = block.at + size
      else {
        const tail = { at: block.at + size, size: rest, isFree: true, freed, waits: isDeferred ? ++this.waited : 0 }
        this.row.splice(this.row.indexOf(block) + 1, 0, tail)
      }
    }
    this.rover = block.at + block.size
    return block.at
  }

  free(at: number): void {
    this.release(this.find(at))
    const blocks = this.row.filter(({ isFree }) => !isFree).length
    if (this.row.filter(({ waits }) => waits > 0).length > blocks + 1024) this.mergeAll()
  }

  resize(at: number, size: number): boolean {
    const block = this.find(at)
    const i = this.row.indexOf(block)
    const next = this.row[i + 1]
    if (size > block.size) {
      if (next === undefined) {
        this.extend(size - block.size)
        block.size = size
        return true
      }
      if (!next.isFree || block.size + next.size < size) return false
      block.size += next.size
      this.row.splice(i + 1, 1)
    }
    const rest = block.size - size
    if (rest < this.rules.smallest) return true
    block.size = size
    const tail = { at: at + size, size: rest, isFree: false, freed: 0, waits: 0 }
    this.row.splice(i + 1, 0, tail)
    this.release(tail)
    return true
  }

  private find(at: number): Segment {
    return this.row.find((segment) => segment.at === at && !segment.isFree) as Segment
  }

  private search(size: number): Segment | undefined {
    const { choice } = this.rules
    const listed = this.row.filter(({ isFree }) => isFree)
    const sign = choice === 'lifo' ? -1 : choice === 'fifo' ? 1 : 0
    const free = listed.toSorted((a, b) => sign * (a.freed - b.freed))
    this.searches++
    if (choice === 'best') {
      this.examined += free.length
      return free.filter((one) => one.size >= size).toSorted((a, b) => a.size - b.size || a.at - b.at)[0]
    }
    const from = choice === 'next' ? free.filter(({ at }) => at < this.rover).length : 0
    const order = [...free.slice(from), ...free.slice(0, from)]
    const i = order.findIndex((one) => one.size >= size)
    this.examined += i < 0 ? free.length : i + 1
    return order[i]
  }

  private release(block: Segment): void {
    block.isFree = true
    block.freed = ++this.time
    if (this.rules.isDeferred) block.waits = ++this.waited
    else this.merge(block)
  }

  /** Merges what waits, the last first. */
  private mergeAll(): void {
    for (;;) {
      const [last] = this.row.filter(({ waits }) => waits > 0).toSorted((a, b) => b.waits - a.waits)
      if (last === undefined) return
      last.waits = 0
      this.merge(last)
    }
  }

  private merge(block: Segment): void {
    // The run of free segments around it.
    let first = this.row.indexOf(block)
    let end = first + 1
    while (this.row[first - 1]?.isFree === true) first--
    while (this.row[end]?.isFree === true) end++
    const run = this.row.splice(first, end - first, block)
    block.at = (run[0] as Segment).at
    block.size = run.reduce((sum, { size }) => sum + size, 0)
    if (this.row.at(-1) !== block) {
      block.freed = ++this.time
      return
    }
    this.top = block.at
    this.row.pop()
    const limit = up(this.top, this.rules.page)
    if (this.limit - limit >= this.rules.trim) this.limit = limit
  }

  private extend(bytes: number): void {
    this.top += bytes
    this.limit = Math.max(this.limit, up(this.top, this.rules.page))
  }
}
