import type { Allocator } from './allocators.js'
import type { Runs } from './comparison.js'
import type { Driver, Run } from './runs.js'

interface MeasureSettings {
  readonly touch: string
  readonly runs: number
  readonly paced: boolean
  /** Calls between two looks at the resident set; 0 for some hundred looks. */
  readonly step: number
}

/**
 * Runs each allocator and the empty one in turn, so that what else the machine does concerns all of them alike. Samples
 * are taken in separate runs.
 * @throws what `Driver.run` throws
 */
export async function measure(
  driver: Driver,
  allocators: readonly Allocator[],
  { touch, runs, paced, step }: MeasureSettings,
): Promise<{ empty: Run[]; all: Runs[] }> {
  const words = [`touch=${touch}`, ...(paced ? ['pace=100'] : [])]
  const empty: Run[] = []
  const all = allocators.map((allocator) => ({ allocator, runs: [] as Run[] }))
  for (let n = 0; n < runs; n++) {
    empty.push(await driver.run(null, ['touch=none']))
    for (const one of all) one.runs.push(await driver.run(one.allocator, words))
  }
  const watched: Runs[] = []
  for (const one of all) {
    const run = await driver.run(one.allocator, [...words, 'watch=1', ...(step > 0 ? [`step=${step}`] : [])])
    watched.push({ ...one, watched: run })
  }
  return { empty, all: watched }
}
