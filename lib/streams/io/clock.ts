/**
 * The milliseconds of a clock for durations, since some time in the past. It never steps back, as `Date.now` does when
 * the system's time is set. `performance` has one too, but takes almost a millisecond to load.
 */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}
