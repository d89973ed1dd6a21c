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
  INTENTS,
  isSeeded,
  live,
  numbers,
  seed,
} from './live/follow'
