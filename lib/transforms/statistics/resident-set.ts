import * as Layout from '../../kernel/layouts/resident-set.js'
import type { StatisticsKernel } from './kernel.js'
import type { ResidentMoment, ResidentSet } from './result.js'

/**
 * The resident set of all processes from the kernel; undefined if no event has it.
 * @param peak the number of the event of the peak of live bytes
 */
export function residentSetOf(kernel: StatisticsKernel, peak: number): ResidentSet | undefined {
  const at = kernel.run.RESIDENT_SET.value
  const events = kernel.number(at + Layout.RS_EVENTS)
  if (events === 0) return undefined
  const atPeak = momentAt(kernel, at + Layout.RS_AT_PEAK)
  return {
    events,
    most: momentAt(kernel, at + Layout.RS_MOST),
    ...(peak > 0 && atPeak.event > peak && { atPeak }),
    last: momentAt(kernel, at + Layout.RS_LAST),
  }
}

function momentAt(kernel: StatisticsKernel, at: number): ResidentMoment {
  return {
    bytes: kernel.sum(at + Layout.RS_BYTES),
    live: kernel.sum(at + Layout.RS_LIVE),
    event: kernel.number(at + Layout.RS_EVENT),
    ...(kernel.number(at + Layout.RS_TIMED) > 0 && { time: kernel.integer(at + Layout.RS_TIME) }),
  }
}
