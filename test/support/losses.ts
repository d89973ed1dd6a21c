/**
 * What an encoder has counted, without what it counts of nearly every event of a test: fields that they lack, and the
 * layout of a trace that is too short to show it.
 * @param lacking the fields
 */
export function lossesBut(lacking: readonly string[], counts: ReadonlyMap<string, number>): Record<string, number> {
  const isUsual = (reason: string) =>
    reason.startsWith('layout, ') || lacking.some((field) => reason.startsWith(`no ${field}, `))
  return Object.fromEntries([...counts].filter(([reason]) => !isUsual(reason)))
}
