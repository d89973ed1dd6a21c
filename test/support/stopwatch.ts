/** What `work` takes on a machine of usual speed, in milliseconds. */
const USUAL = 15

/**
 * Starts to count the processor time of this process.
 * @returns the time since then, as `usualTime` gives it
 */
export function stopwatch(): () => number {
  const start = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(start)
    return usualTime((user + system) / 1000)
  }
}

/**
 * The time that the same work would take on a machine of usual speed; on a faster one, `time` itself. A test of how
 * long something takes must fail neither because the machine is busy with something else, nor because it is slow.
 * @param time in milliseconds, of the processor where possible
 */
export function usualTime(time: number): number {
  // No test allows less, and to measure the machine takes about as long.
  if (time < 100) return time
  // The first runs are not compiled yet.
  const times = Array.from({ length: 5 }, work).toSorted((a, b) => a - b)
  return time / Math.max(1, times[2] / USUAL)
}

/** Does what tests do much of: numbers are computed, sorted, and put into a table. @returns the processor time */
function work(): number {
  const start = process.cpuUsage()
  const numbers = new Float64Array(50_000)
  let state = 1
  for (let i = 0; i < numbers.length; i++) numbers[i] = state = (Math.imul(state, 0x19660d) + 0x3c6ef35f) >>> 0
  numbers.sort()
  const table = new Map<number, number>()
  for (const number of numbers) table.set(number, (table.get(number ^ 1) ?? 0) + 1)
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}
