/** The data of a scan of a table in a plan. With anything else, it may need columns that it does not name. */
const KNOWN = new Set(['Table', 'Type', 'Projections', 'Estimated Cardinality'])

/**
 * The columns that the scans of a plan name, by table: all columns of a table with a scan that is not understood.
 * @param plan the parsed output of `explain (format json)`
 * @param columns the names of all columns of the tables
 */
export function scannedColumns(
  plan: unknown,
  columns: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, ReadonlySet<string>>()
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if (Array.isArray(node)) return node.forEach(visit)
    const { extra_info: info, children } = node as { extra_info?: unknown; children?: unknown }
    if (typeof info === 'object' && info !== null) take(info as Readonly<Record<string, unknown>>)
    visit(children)
  }
  const take = (info: Readonly<Record<string, unknown>>) => {
    if (info['Table'] === undefined) return
    const table = String(info['Table']).replace(/^.*\./, '')
    const all = columns.get(table)
    if (all === undefined) return
    // DuckDB has a text for one column, and an empty one for none.
    const projections = info['Projections'] === '' ? [] : [info['Projections']].flat()
    const isClear =
      Object.keys(info).every((key) => KNOWN.has(key)) &&
      projections.every((name) => typeof name === 'string' && all.has(name))
    found.set(table, isClear ? new Set([...(found.get(table) ?? []), ...(projections as string[])]) : all)
  }
  visit(plan)
  return found
}
