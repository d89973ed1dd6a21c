/** More rows than this are not kept in order one by one. */
const FEW = 64

/** The first `n` rows in an order, with the same result as sorting all of them; equal rows keep their order. */
export function topOf<Row>(rows: readonly Row[], compare: (a: Row, b: Row) => number, n: number): Row[] {
  if (n > FEW) return rows.toSorted(compare).slice(0, n)
  const top: Row[] = []
  for (const row of rows) {
    if (top.length === n && (n === 0 || compare(row, top[n - 1]) >= 0)) continue
    if (top.length === n) top.pop()
    let at = top.length
    while (at > 0 && compare(row, top[at - 1]) < 0) at--
    top.splice(at, 0, row)
  }
  return top
}
