import { statSync } from 'node:fs'
import type { EventBatch } from '../event/batch.js'
import type { LifetimeOptions, LifetimePredictor } from '../transforms/simulate/lifetimes/predictor.js'
import { MOST_LIFETIME_BYTES } from '../transforms/simulate/lifetimes/model.js'
import { checkLifetimeModel } from '../transforms/simulate/lifetimes/read-model.js'
import { LifetimeTrainer } from '../transforms/simulate/lifetimes/trainer.js'
import { UsageError } from './command.js'
import { traceInput } from './input.js'
import { hasModel, readModel } from './json-model.js'
import { runTrace } from './pipeline.js'

/** Whether an input can be read twice. */
export function canReadAgain(input: string): boolean {
  return input !== '-' && statSync(input, { throwIfNoEntry: false })?.isFile() === true
}

/** Whether an input is a file with a model in place of a trace. */
export async function isModel(input: string): Promise<boolean> {
  return canReadAgain(input) && (await hasModel(input))
}

/** Reads what was learned of a trace. @throws TraceError for what is no such model */
export function readLifetimes(file: string): Promise<LifetimePredictor> {
  return readModel(file, MOST_LIFETIME_BYTES, checkLifetimeModel)
}

/**
 * Learns from a trace which blocks are short-lived.
 * @param isReadAgain whether the trace is the one that is simulated then: its faults are reported at that time
 * @throws UsageError for options that are out of range
 */
export async function trainOn(
  path: string,
  options: LifetimeOptions,
  isReadAgain: boolean,
): Promise<LifetimePredictor> {
  let trainer: LifetimeTrainer
  try {
    trainer = new LifetimeTrainer(options)
  } catch (error) {
    throw new UsageError(`--${(error as Error).message}`, { cause: error })
  }
  const through = {
    consumes: true,
    feed: (batch: EventBatch) => trainer.add(batch),
    next: () => null,
    end: () => {},
    endTruncated: () => {},
  }
  try {
    await runTrace({ command: 'hf-simulate', input: traceInput(path), through, output: () => {} })
  } catch (error) {
    if (!isReadAgain) throw error
  }
  return trainer.finish()
}
