import { statSync } from 'node:fs'
import { caveats } from '../event/caveats.js'
import { chain } from '../event/chain.js'
import { LifetimePredictor, type LifetimeOptions } from '../transforms/simulate/lifetimes/predictor.js'
import { LifetimeTrainer } from '../transforms/simulate/lifetimes/trainer.js'
import type { ByteSource } from '../streams/io/read-input.js'
import { orFlagError } from './command.js'
import { traceInput } from './input.js'
import { hasModel, openInputOnce } from './json-model.js'
import { runTrace, sink } from './pipeline.js'
import { SiteNames } from './site-names.js'

/** Whether an input can be read twice. */
export function canReadAgain(input: string): boolean {
  return input !== '-' && statSync(input, { throwIfNoEntry: false })?.isFile() === true
}

/**
 * The input that `--predict` names: a model, or a trace from which to learn. A pipe, which can be read once, is open
 * then.
 */
export async function openTraining(path: string): Promise<{ isModel: boolean; source?: ByteSource }> {
  // A file that is not there is reported when it is read as a trace.
  const stats = statSync(path, { throwIfNoEntry: false })
  if (path !== '-' && (stats === undefined || stats.isFile() || stats.isDirectory()))
    return { isModel: canReadAgain(path) && (await hasModel(path)) }
  return openInputOnce(path)
}

/**
 * Learns from a trace which blocks are short-lived. The sites with the most of them have names for people.
 * @param isReadAgain whether the trace is the one that is simulated then: its faults are reported at that time
 * @param source its bytes, if it was opened already
 * @throws UsageError for options that are out of range
 */
export async function trainOn(
  path: string,
  options: LifetimeOptions,
  isReadAgain: boolean,
  source?: ByteSource,
): Promise<LifetimePredictor> {
  const trainer = orFlagError(options, () => new LifetimeTrainer(options))
  const names = new SiteNames()
  const training = sink((batch) => {
    names.note(batch)
    trainer.add(batch)
  })
  // Faults of a trace that is read again are reported then.
  const through = isReadAgain ? training : chain(caveats(), training)
  try {
    await runTrace({
      command: 'hf-simulate',
      input: { ...traceInput(path), ...(source !== undefined && { source }) },
      through,
    })
  } catch (error) {
    if (!isReadAgain) throw error
  }
  const { threshold, frames, kinds, training: learned } = trainer.finish()
  const shortSites = await names.named(learned.shortSites, path)
  return new LifetimePredictor(threshold, frames, kinds, { ...learned, shortSites })
}
