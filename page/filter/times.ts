import type { ReportSummary } from '../../lib/transforms/report/result.js'
import { secondsOf } from '../parts/format.js'

/** A number with a unit of time. */
const TIME = /(?<!\w)(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|min|h)\b/g
const SECONDS: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  ms: 1e-3,
  s: 1,
  min: 60,
  h: 3600,
}

/**
 * The value of a criterion with numbers of the trace in place of times with units, which count from the first event as
 * in charts: `10ms..20ms` is `time:1010..1020` of a trace that begins at 1000 ms.
 * @throws RangeError if the trace does not say what unit its times have
 */
export function inNumbers(flag: string, value: string, time: ReportSummary['time']): string {
  if (flag !== 'time' && flag !== 'part' && flag !== 'live-at') return value
  if (value.search(TIME) < 0) return value
  const seconds = secondsOf(time?.unit)
  if (time === undefined || seconds === undefined)
    throw new RangeError(
      `the trace does not say the unit of its times: give its own numbers in place of ${JSON.stringify(value)}`,
    )
  const first = BigInt(time.first)
  const text = value.replace(TIME, (_, digits: string, unit: string) =>
    String(first + BigInt(Math.round((Number(digits) * SECONDS[unit]) / seconds))),
  )
  return flag === 'time' || text.startsWith('time:') ? text : `time:${text}`
}
