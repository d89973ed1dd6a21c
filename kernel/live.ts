/** The live set of a trace. */
export {
  BEGINS,
  BEGUN,
  CHANGES,
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
