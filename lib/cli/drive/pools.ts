import { statSync } from 'node:fs'
import { Simulator } from '../../transforms/simulate/simulator.js'
import { traceInput } from '../input.js'
import { trainOn } from '../lifetime-training.js'
import { runTrace } from '../pipeline.js'
import { SimulationReport } from '../report/simulation.js'

const command = 'hf-replay'
/** Of the policies that arenas can be before, the one that is most like real allocators. */
const GENERAL = 'best-fit'

/**
 * Which pools would save memory, as a sentence for the verdict. Undefined if they would save little, or the trace is no
 * file, which is read twice, has no sites, or cannot be simulated.
 */
export async function poolSentence(input: string): Promise<string | undefined> {
  if (input === '-' || statSync(input, { throwIfNoEntry: false })?.isFile() !== true) return undefined
  const predict = await trainOn(input, {}, true, command)
  const { shortSites } = predict.training
  if (shortSites.length === 0) return undefined
  const simulators = [
    new Simulator({ policy: 'bump', predict, general: GENERAL }, true),
    new Simulator({ policy: GENERAL }, true),
  ]
  const report = new SimulationReport(simulators, false, true, shortSites)
  try {
    await runTrace({ command, input: traceInput(input), through: report, output: () => {} })
  } catch {
    // The replay reports what is wrong with the trace. The events before count.
  }
  return report.pool()
}
