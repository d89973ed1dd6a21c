/**
 * The first and the last event of the parts of a timeline that end in a part of the x axis; at least one.
 * @param event the last event of each part
 * @param at the positions where they end
 */
export function eventsBetween(
  event: readonly number[],
  at: readonly number[],
  from: number,
  to: number,
): [first: number, last: number] {
  const begin = at.findIndex((x) => x >= from)
  const first = begin <= 0 ? (begin < 0 ? (event.at(-1) ?? 1) : 1) : (event[begin - 1] ?? 0) + 1
  const end = at.findLastIndex((x) => x <= to)
  return [first, Math.max(first, event[end] ?? 1)]
}
