import type { EventBatch } from '../../event/batch.js'
import type { PoolGain } from '../../exports/simulation/pools.js'
import { LifetimeTrainer } from '../../transforms/simulate/lifetimes/trainer.js'
import { Simulator } from '../../transforms/simulate/simulator.js'
import { Interrupted } from '../command.js'
import { traceInput } from '../input.js'
import { runTrace, sink } from '../pipeline.js'
import { canGain, poolGain } from '../report/pool-gain.js'
import { SiteNames } from '../site-names.js'

/** Of the policies that arenas can be before, the one that is most like real allocators. */
const GENERAL = 'best-fit'

/**
 * Finds out which pools would save memory: it learns from a trace while that is prepared, and reads it once more only
 * if pools could save enough.
 */
export class PoolSurvey {
  private readonly trainer = new LifetimeTrainer()
  private readonly alone = new Simulator({ policy: GENERAL }, true)
  private readonly names = new SiteNames()
  /** The trace cannot be simulated. */
  private isUnfit = false

  /** Notes the events of a batch. */
  add(batch: EventBatch): void {
    if (this.isUnfit) return
    try {
      this.names.note(batch)
      this.trainer.add(batch)
      run(this.alone, batch)
    } catch {
      this.isUnfit = true
    }
  }

  /**
   * The savings by pools; null if that is little, the trace has no sites, or cannot be simulated.
   * @param input the file whose events were noted
   */
  async gain(input: string): Promise<PoolGain | null> {
    const predict = this.trainer.finish()
    const [alone] = this.alone.results()
    this.alone.dispose()
    const { shortSites } = predict.training
    if (this.isUnfit || alone === undefined || shortSites.length === 0 || !canGain(alone)) return null
    const pooled = new Simulator({ policy: 'bump', predict, general: GENERAL }, true)
    try {
      const through = sink((batch) => run(pooled, batch))
      await runTrace({ command: 'hf-replay', input: traceInput(input), through, signals: true })
    } catch (error) {
      if (error instanceof Interrupted) throw error
      // The replay reports what is wrong with the trace. The events before count.
    }
    const [result] = pooled.results()
    pooled.dispose()
    return result === undefined ? null : poolGain([result, alone], await this.names.named(shortSites, input))
  }
}

function run(simulator: Simulator, batch: EventBatch): void {
  simulator.feed(batch)
  while (simulator.next() !== null);
}
