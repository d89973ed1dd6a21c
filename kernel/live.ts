/** The live set of a trace. */
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
  list,
  listed,
  live,
  numbers,
  seed,
  watch,
} from './live/follow'
export { intend, SPACES } from './live/keys'
export { ADDRESS, API, INDEX, KIND, MASK, OLD_ADDRESS, OUTCOME, SIZE } from './shared/columns'
