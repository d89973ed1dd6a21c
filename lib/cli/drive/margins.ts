/** Allocators that return memory by the clock, so that their resident set depends on how long the program runs. */
const BY_CLOCK = /jemalloc/

/** Allocators whose resident set depends on how threads take turns, which a recording changes. */
const BY_TURNS = /mimalloc/

/**
 * The difference between the changes of the peak of a real program and of its replay, as a part of the program's peak.
 */
const PEAK = { oneThread: 0.03, byClock: 0.25, byClockPaced: 0.1, threads: 0.15, byTurns: 0.7 } as const

/**
 * The agreement of a replay with real programs, as measured in docs/allocators.md ("Does the replay predict?"): for the
 * change of processor time of a program with one thread, as a part of its processor time.
 */
export const TIME_MARGIN = 0.1

/**
 * The same for the change of the peak of the resident set, as a part of the program's own peak.
 * @param names the allocators that are compared
 */
export function peakMargin(names: readonly string[], threads: number, isPaced: boolean): number {
  const hasTurns = threads > 1 && names.some((name) => BY_TURNS.test(name))
  const least = threads === 1 ? PEAK.oneThread : hasTurns ? PEAK.byTurns : PEAK.threads
  if (!names.some((name) => BY_CLOCK.test(name))) return least
  return Math.max(least, isPaced ? PEAK.byClockPaced : PEAK.byClock)
}
