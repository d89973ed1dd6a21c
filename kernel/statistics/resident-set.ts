/**
 * The resident set of all processes together, by events that concern no block, with the live bytes at that moment. The
 * resident set of a process is what its last event says, until the process or its trace ends.
 */
import { FIRST, MAX_KEYS } from '../../lib/kernel/layouts/owners'
import * as Layout from '../../lib/kernel/layouts/resident-set'
import { AT_EVENT } from '../../lib/kernel/layouts/totals'
import { HAS_TIME } from '../shared/event'
import { noteResident, RESIDENT_BYTES } from './timeline'
import { addTo, copySum, count, raise, takeFrom } from './sums'
import { LIVE_BYTES, PEAK_BYTES } from './totals'

export const RESIDENT_SET: usize = memory.data(Layout.RESIDENT_SET_BYTES)
/** The number of the event of the peak of live bytes, as of the last event here, or of the end of the last trace. */
let peak: u64 = 0
/** By the row of a process (lib/blocks/callers.ts), its resident bytes as far as known. */
const LEVELS: usize = memory.data((FIRST + MAX_KEYS) * 8)
/** One past the last row that may have resident bytes. */
let rows: u32 = 0

/** Takes an event with the resident bytes of the process in a row. */
export function takeResident(process: u32, bytes: u64, event: u64, mask: u32, time: u64): void {
  count(RESIDENT_SET + Layout.RS_EVENTS)
  rows = max(rows, process + 1)
  setLevel(process, bytes)
  const last = RESIDENT_SET + Layout.RS_LAST
  copySum(last + Layout.RS_BYTES, RESIDENT_BYTES)
  copySum(last + Layout.RS_LIVE, LIVE_BYTES)
  store<u64>(last, event, Layout.RS_EVENT)
  store<u64>(last, <u64>(mask & HAS_TIME), Layout.RS_TIMED)
  store<u64>(last, time, Layout.RS_TIME)
  const most = RESIDENT_SET + Layout.RS_MOST
  if (raise(most + Layout.RS_BYTES, RESIDENT_BYTES) || load<u64>(most, Layout.RS_EVENT) == 0)
    memory.copy(most, last, Layout.RS_SAMPLE)
  if (peak != load<u64>(PEAK_BYTES, AT_EVENT)) {
    peak = load<u64>(PEAK_BYTES, AT_EVENT)
    memory.copy(RESIDENT_SET + Layout.RS_AT_PEAK, last, Layout.RS_SAMPLE)
  }
}

/** Ends the process in a row, which then has no resident bytes. */
export function endsResident(process: u32): void {
  if (process < rows) setLevel(process, 0)
}

/** Ends a trace: none of its processes is resident, and no later event belongs to its peak. */
export function endResident(): void {
  peak = load<u64>(PEAK_BYTES, AT_EVENT)
  if (rows == 0) return
  memory.fill(LEVELS, 0, (<usize>rows) << 3)
  rows = 0
  store<u64>(RESIDENT_BYTES, 0)
  store<u64>(RESIDENT_BYTES, 0, 8)
}

function setLevel(process: u32, bytes: u64): void {
  const level = LEVELS + ((<usize>process) << 3)
  takeFrom(RESIDENT_BYTES, load<u64>(level))
  addTo(RESIDENT_BYTES, bytes)
  store<u64>(level, bytes)
  noteResident()
}
