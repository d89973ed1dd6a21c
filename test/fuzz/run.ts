import { hashName, Random } from './random.js'
import type { Input, Target } from './target.js'

/** One input more than this takes too long, in milliseconds of the processor's time. */
export const MAX_TIME = 3000

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

/** Makes an input and checks it. @returns what went wrong, if anything did */
export async function tryInput(target: Target, seed: number, run: number): Promise<Fault | undefined> {
  const start = performance.now()
  let message: string | undefined
  try {
    const checked = inputOf(target, seed, run).check()
    if (checked !== undefined) await checked
  } catch (error) {
    message = describe(error)
  }
  // The clock runs on while others use the processor, so a slow input gets another chance.
  if (message === undefined && performance.now() - start > MAX_TIME) {
    const before = process.cpuUsage()
    await inputOf(target, seed, run).check()
    const { user, system } = process.cpuUsage(before)
    const time = (user + system) / 1000
    if (time > MAX_TIME) message = `takes ${Math.round(time)} ms`
  }
  return message === undefined ? undefined : { target: target.name, run, message }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.constructor.name === 'Failure' ? error.message : (error.stack ?? error.message)
}
