/** Predictions that are wrong repeatedly. */

/** The number of wrong predictions of an address after which its chunk counts as used. */
const MOST_WRONG: u32 = 32
/** The last wrong prediction, and its number of repetitions. */
let lastWrong: u64 = 0
let timesWrong: u32 = 0

/** Forgets which predictions were wrong. */
export function clearWrong(): void {
  lastWrong = 0
  timesWrong = 0
}

/**
 * Notes a wrong prediction.
 * @param wrong the address, 0 if none was predicted
 * @param counts whether it counts as a repetition
 * @returns whether it has been repeated so often that the chunk there is not free
 */
export function isOftenWrong(wrong: u64, counts: bool): bool {
  if (counts) timesWrong = wrong != 0 && wrong == lastWrong ? timesWrong + 1 : 0
  lastWrong = wrong
  return counts && timesWrong == MOST_WRONG
}
