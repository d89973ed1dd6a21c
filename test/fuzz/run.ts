import { stopwatch } from '../support/stopwatch.js'
import { hashName, Random } from './random.js'
import type { Input, Target } from './target.js'

/** No input may take longer, in milliseconds of the processor's time. */
const MAX_TIME = 3000

/** What went wrong, with which input. */
export interface Fault {
  target: string
  run: number
  message: string
}

/** The input of a target with a number. It depends on the seed and on these alone. */
export function inputOf(target: Target, seed: number, run: number): Input {
  const random = new Random()
  random.seed(seed, hashName(target.name), run)
  return target.make(random)
}

/**
 * Makes an input and checks it.
 * @param maxTime it may take this long, in milliseconds of the processor's time
 * @returns what went wrong, if anything did
 */
export async function tryInput(
  target: Target,
  seed: number,
  run: number,
  maxTime = MAX_TIME,
): Promise<Fault | undefined> {
  const start = performance.now()
  let message: string | undefined
  try {
    const checked = inputOf(target, seed, run).check()
    if (checked !== undefined) await checked
  } catch (error) {
    message = describe(error)
  }
  // The clock runs on while others use the processor, so a slow input gets another chance.
  if (message === undefined && performance.now() - start > maxTime) {
    const time = stopwatch()
    await inputOf(target, seed, run).check()
    const taken = time()
    if (taken > maxTime) message = `takes ${Math.round(taken)} ms`
  }
  return message === undefined ? undefined : { target: target.name, run, message }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.constructor.name === 'Failure' ? error.message : (error.stack ?? error.message)
}
