/** The table of events as mpatrol's trace reader prints it: the live set, the figures of each event, and its row. */
export * from './live'
export { begin, list, makeRoom, OUTPUT, ROW_ENDS, unknown, written } from './event-table/list'
export { TOTALS } from './statistics/totals'
