/** Wider cells of a table are truncated. */
const MAX_CELL = 120
/** The mark of omitted text. */
const GAP = '...'
/** The length of the beginning of a cell that is kept if its difference from another cell comes later. */
const HEAD = 40
/** The length of the text that is shown before that difference. */
const BEFORE = 10
/** The number of long cells of a column that are remembered: those that come later may look like others. */
const MAX_KNOWN = 10_000

/**
 * The cells of a column that fit its width. Long cells that differ look different: where their beginnings are the same,
 * the first difference from a similar one is shown; where even that would be the same, they are numbered.
 */
export class ColumnCells {
  /** The shown form of long cells, and the cell of each form. */
  private readonly forms = new Map<string, string>()
  private readonly cells = new Map<string, string>()

  /** @param isFull whether long cells are shown whole */
  constructor(private readonly isFull = false) {}

  /** The shown form of further cells of the column. */
  show(texts: readonly string[]): readonly string[] {
    if (this.isFull) return texts
    const fresh = [...new Set(texts)].filter((text) => text.length > MAX_CELL && !this.forms.has(text))
    // Next to each other are those whose beginnings have most in common.
    const sorted = fresh.toSorted()
    sorted.forEach((text, i) => {
      const start = beginning(text)
      const others = [sorted[i - 1], sorted[i + 1], this.cells.get(start)]
      const same = others.filter((other) => other !== undefined && beginning(other) === start) as string[]
      this.add(text, same.length === 0 ? start : around(text, Math.max(...same.map((other) => common(text, other)))))
    })
    return texts.map((text) => (text.length > MAX_CELL ? (this.forms.get(text) ?? beginning(text)) : text))
  }

  private add(text: string, form: string): void {
    if (this.forms.size >= MAX_KNOWN) return
    let unique = form
    for (let n = 2; this.cells.has(unique); n++) unique = `${form} #${n}`
    this.forms.set(text, unique)
    this.cells.set(unique, text)
  }
}

function beginning(text: string): string {
  return `${text.slice(0, MAX_CELL - GAP.length)}${GAP}`
}

/** A text with its beginning and what is around a position in it. */
function around(text: string, position: number): string {
  const from = Math.max(HEAD, position - BEFORE)
  const room = MAX_CELL - HEAD - 2 * GAP.length
  const rest = text.slice(from, from + room)
  return `${text.slice(0, HEAD)}${GAP}${rest}${from + room < text.length ? GAP : ''}`
}

/** The length of the common beginning of two texts, in characters. */
function common(a: string, b: string): number {
  let n = 0
  while (n < a.length && a[n] === b[n]) n++
  return n
}
