const LATE = 'sections that come after the records that need them can be read from a file only'

/** The elements of one section that have arrived and have not been taken yet. */
class Table {
  /** The number of the next element to take, now and at the last commit. */
  next = 0
  committed = 0
  /** The number of elements that have arrived. */
  count = 0
  /** Whether the table is complete. */
  isClosed = false
  /**
   * Pushes some more elements, from elsewhere in the file, or closes the table at its end. Returns the reason if it
   * cannot, or an empty string.
   */
  pull: (() => string) | null = null
  /** The number of the element at `words[0]`. */
  private first = 0
  private words = new Uint32Array(64)

  /** The bytes that the elements take. */
  get bytes(): number {
    return 8 * Math.max(0, this.count - Math.max(this.first, this.committed))
  }

  push(from: Uint32Array, at: number): void {
    // Elements that were already skipped are not kept.
    if (this.count < this.committed) {
      this.first = ++this.count
      return
    }
    let slot = 2 * (this.count - this.first)
    if (slot === this.words.length) {
      const unused = Math.max(0, Math.min(this.committed, this.count) - this.first)
      const words = unused > slot / 4 ? this.words : new Uint32Array(2 * this.words.length)
      words.set(this.words.subarray(2 * unused, slot))
      this.words = words
      this.first += unused
      slot -= 2 * unused
    }
    this.words[slot] = from[at]
    this.words[slot + 1] = from[at + 1]
    this.count++
  }

  /** Copies an available element to `to[index]`. */
  get(element: number, to: Uint32Array, index: number): void {
    const slot = 2 * (element - this.first)
    to[index] = this.words[slot]
    to[index + 1] = this.words[slot + 1]
  }

  /** Drops the elements that were taken. */
  drop(): void {
    this.committed = this.next
    if (this.committed >= this.count) this.first = this.count
  }
}

/**
 * The tables that fields with sectionStride take their values from. All fields that take from a section share one
 * offset into it, which only moves forward, so elements are kept from their arrival until they are taken.
 */
export class Tables {
  /** The reason why `take` had no value. */
  reason = ''
  private readonly tables = new Map<number, Table>()
  private readonly taken: Table[] = []
  private hasTaken = false

  /** @param maxBytes the maximum size in bytes of the elements of a section that have not been taken yet */
  constructor(private readonly maxBytes: number) {}

  /** Adds an element to a section. Returns a message if there are too many, or an empty string. */
  push(section: number, words: Uint32Array, at: number): string {
    const table = this.of(section)
    table.push(words, at)
    if (table.bytes <= this.maxBytes) return ''
    return `more than ${this.maxBytes} bytes of section ${section} come before the records that need them`
  }

  /** Marks a section as complete. */
  close(section: number): void {
    this.of(section).isClosed = true
  }

  /** Sets the source of a section's elements: `pull` pushes some more, or returns the reason if it cannot. */
  pullFrom(section: number, pull: () => string): void {
    this.of(section).pull = pull
  }

  /**
   * Copies the element at the section's offset to `words[index]`, and advances the offset by `stride`. Returns whether
   * there is one.
   */
  take(section: number, stride: number, words: Uint32Array, index: number): boolean {
    const table = this.of(section)
    while (table.count <= table.next && !table.isClosed && table.pull !== null) {
      this.reason = table.pull()
      if (this.reason !== '') return false
    }
    if (table.count <= table.next) {
      this.reason = table.isClosed
        ? `section ${section} has only ${table.count} elements`
        : `element ${table.next} of section ${section} has not come yet: ${LATE}`
      return false
    }
    table.get(table.next, words, index)
    if (!this.taken.includes(table)) this.taken.push(table)
    this.hasTaken = true
    table.next += stride
    return true
  }

  /** Completes the record: the elements that it took are dropped. */
  commit(): void {
    if (!this.hasTaken) return
    for (const table of this.taken) table.drop()
    this.taken.length = 0
    this.hasTaken = false
  }

  /** Returns the elements taken since the last `commit`. */
  rollback(): void {
    for (const table of this.taken) table.next = table.committed
    this.taken.length = 0
    this.hasTaken = false
  }

  private of(section: number): Table {
    let table = this.tables.get(section)
    if (table === undefined) this.tables.set(section, (table = new Table()))
    return table
  }
}
