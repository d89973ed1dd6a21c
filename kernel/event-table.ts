/** The table of events as mpatrol's trace reader prints it: the live set, the figures of each event, and its row. */
export {
  BEGINS,
  BEGUN,
  EFFECTS,
  clear,
  ENDED,
  ENDS,
  find,
  follow,
  gone,
  goneCount,
  INTENTS,
  isSeeded,
  live,
  numbers,
  seed,
  watch,
} from './live/follow'
export { intend, SPACES } from './live/keys'
export { ADDRESS, API, INDEX, KIND, MASK, OLD_ADDRESS, OUTCOME, SIZE } from './shared/columns'
export { begin, list, makeRoom, OUTPUT, ROW_ENDS, written } from './event-table/list'
export { TOTALS } from './statistics/totals'
