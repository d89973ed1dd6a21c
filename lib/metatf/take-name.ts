/**
 * The first of `name`, `name_2`, `name_3` ... that is not taken; it is then.
 *
 * @param taken the names that are taken, each with the last number that was tried behind it, so that many equal names
 *   take no longer
 * @param separator what stands between name and number
 */
export function takeName(name: string, taken: Map<string, number>, separator: string): string {
  const last = taken.get(name)
  if (last === undefined) {
    taken.set(name, 1)
    return name
  }
  let n = last + 1
  while (taken.has(`${name}${separator}${n}`)) n++
  const free = `${name}${separator}${n}`
  taken.set(name, n)
  taken.set(free, 1)
  return free
}
