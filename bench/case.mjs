// Runs one case on one trace in a separate process, so that the engine's optimizations for other cases have no
// influence. The parent sends one message with the job, and gets one message with the result.
import { measure, ratio } from './measure.mjs'

/**
 * @typedef {object} CaseResult
 * @property {string} name the case
 * @property {string} input the trace
 * @property {import('./measure.mjs').Timing[]} timings
 * @property {{ of: string, over: string, values: number[] }[]} ratios
 */

process.once('message', async ({ name, input, plan }) => {
  const { tasks, ratios = [] } = await import(`./cases/${name}.mjs`)
  const timings = await measure(await tasks(input), plan)
  const found = ratios.map(([of, over]) => ratio(timings, of, over)).filter((value) => value !== undefined)
  process.send?.({ timings, ratios: found })
  process.disconnect()
})
