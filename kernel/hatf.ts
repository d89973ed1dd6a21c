/** HATF 1.0: records to columns, and columns to records in the layouts that a strategy chooses. See lib/formats/hatf. */

export * from './shared/columns'
export { dataFrom, dataTo, decode, events, faultField, faultValue, fields, position, settle } from './hatf/decode'
export { firstHeld } from './hatf/fold'
export { reset, STATE, STATE_BYTES } from './hatf/state'

/** Where records are read. Behind its 262144 bytes there is room for what is looked at beyond a record. */
export const INPUT: usize = memory.data(262176)
