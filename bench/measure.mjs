// Compares the times of tasks. The tasks of a case take turns, so that other load on the machine affects all of them
// alike.

/**
 * @typedef {object} Task
 * @property {string} name
 * @property {number} events how many events one run reads or writes; 0 where the task knows nothing of events
 * @property {number} bytes how many bytes one run reads or writes
 * @property {() => number | Promise<number>} run returns what it made, as a number that is the same in every run
 * @property {() => number} [seconds] takes the place of `run` where a task times itself, or counts other seconds than
 * those of the clock: those of one run
 */

/**
 * @typedef {object} Timing
 * @property {string} name
 * @property {number} events
 * @property {number} bytes
 * @property {number} repeat how often the task ran for each of the times; they are times of a single run nevertheless
 * @property {number[]} seconds one time for each round
 */

/** @typedef {{ min: number, median: number, max: number }} Spread */

/** Short tasks are repeated until a round takes this long. */
const ROUND_SECONDS = 0.15
const MAX_REPEAT = 50

/**
 * Runs each task once in every round.
 * @param {readonly Task[]} tasks
 * @param {{ rounds: number, warmups: number }} plan
 * @returns {Promise<Timing[]>}
 */
export async function measure(tasks, { rounds, warmups }) {
  /** @type {{ task: Task, timing: Timing, made: number | undefined }[]} */
  const entries = tasks.map((task) => ({ task, timing: { ...pick(task), repeat: 1, seconds: [] }, made: undefined }))
  const once = async ({ task, timing }, check) => {
    if (task.seconds !== undefined) return task.seconds()
    // Without this, the garbage of one task would be collected during the next.
    globalThis.gc?.()
    const start = process.hrtime.bigint()
    for (let i = 0; i < timing.repeat; i++) check(await task.run())
    return Number(process.hrtime.bigint() - start) / 1e9 / timing.repeat
  }
  for (let round = -warmups; round < rounds; round++) {
    for (const entry of entries) {
      const seconds = await once(entry, (made) => {
        entry.made ??= made
        if (made !== entry.made) throw new Error(`${entry.task.name}: one run made ${entry.made}, another ${made}`)
      })
      if (round >= 0) entry.timing.seconds.push(seconds)
      else if (round === -1 && entry.task.seconds === undefined) entry.timing.repeat = repeatsFor(seconds)
    }
  }
  return entries.map(({ timing }) => timing)
}

/**
 * The number of runs of a task in a round.
 * @param {number} seconds the time of one run
 */
export function repeatsFor(seconds) {
  return Math.min(MAX_REPEAT, Math.ceil(ROUND_SECONDS / seconds))
}

/** @param {Task} task */
function pick({ name, events, bytes }) {
  return { name, events, bytes }
}

/**
 * The speed of a task relative to another one, for each round: both times of a ratio are from the same round.
 * @param {readonly Timing[]} timings
 * @param {string} of
 * @param {string | readonly string[]} over the yardstick, or several whose times are added
 */
export function ratio(timings, of, over) {
  const [a, ...yardsticks] = [of, ...[over].flat()].map((name) => timings.find((timing) => timing.name === name))
  if (a === undefined || yardsticks.includes(undefined)) return undefined
  const total = (round) => yardsticks.reduce((sum, { seconds }) => sum + seconds[round], 0)
  return { of, over: [over].flat().join(' and '), values: a.seconds.map((seconds, round) => total(round) / seconds) }
}

/**
 * @param {readonly number[]} values at least one
 * @returns {Spread}
 */
export function spread(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const median = sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  return { min: sorted[0], median, max: sorted[sorted.length - 1] }
}
