/** The resident set of the process, of events that concern no block, beside the live bytes of that moment. */
import {
  RESIDENT_SET_BYTES,
  RS_AT_PEAK,
  RS_BYTES,
  RS_EVENT,
  RS_EVENTS,
  RS_LAST,
  RS_LIVE,
  RS_MOST,
  RS_SAMPLE,
  RS_TIME,
  RS_TIMED,
} from '../../lib/kernel/layouts/resident-set'
import { AT_EVENT } from '../../lib/kernel/layouts/totals'
import { HAS_TIME } from '../shared/event'
import { noteResident } from './timeline'
import { copySum, count } from './sums'
import { LIVE_BYTES, PEAK_BYTES } from './totals'

export const RESIDENT_SET: usize = memory.data(RESIDENT_SET_BYTES)
/** The number of the event of the peak of live bytes, as of the last event here. */
let peak: u64 = 0

/** Takes an event with the resident bytes of the process. */
export function takeResident(bytes: u64, event: u64, mask: u32, time: u64): void {
  count(RESIDENT_SET + RS_EVENTS)
  const last = RESIDENT_SET + RS_LAST
  store<u64>(last, bytes, RS_BYTES)
  copySum(last + RS_LIVE, LIVE_BYTES)
  store<u64>(last, event, RS_EVENT)
  store<u64>(last, <u64>(mask & HAS_TIME), RS_TIMED)
  store<u64>(last, time, RS_TIME)
  const most = RESIDENT_SET + RS_MOST
  if (load<u64>(most, RS_EVENT) == 0 || bytes > load<u64>(most, RS_BYTES)) memory.copy(most, last, RS_SAMPLE)
  if (peak != load<u64>(PEAK_BYTES, AT_EVENT)) {
    peak = load<u64>(PEAK_BYTES, AT_EVENT)
    memory.copy(RESIDENT_SET + RS_AT_PEAK, last, RS_SAMPLE)
  }
  noteResident(bytes)
}
