/**
 * HATF 1.0: records to columns, and columns to records in the layouts that a strategy chooses. See lib/formats/hatf.
 */

import { KERNEL_INPUT } from '../lib/kernel/layouts/input'

export * from './shared/columns'
export { plan } from './hatf/choice'
export { dataFrom, dataTo, decode, events, faultField, faultValue, fields, position, settle } from './hatf/decode'
export { firstHeld } from './hatf/fold'
export { addComment, toRecords, records, recordsBefore, rest, todo, without } from './hatf/to-records'
export { watchAll } from './hatf/plan'
export { MAX_RECORDS, R_DATA_END, RECORD_BYTES, RECORDS } from './hatf/records'
export { LAYOUTS, PLAIN_WIDTHS, reset, STATE, STATE_BYTES, STRATEGIES } from './hatf/state'
export { blocked, stream } from './hatf/stream'
export { DATA, DATA_BYTES, OUTPUT, write, written } from './hatf/write'

/** Input buffer: 262,144 bytes, plus padding for reads beyond a record. */
export const INPUT: usize = memory.data(KERNEL_INPUT + 32)
