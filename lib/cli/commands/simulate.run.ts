import type { EventBatch } from '../../event/batch.js'
import { caveats } from '../../event/caveats.js'
import { chain } from '../../event/chain.js'
import { CLASS_RULES, POLICIES, type PolicyName, type SimulateOptions } from '../../transforms/simulate/policies.js'
import { Simulator } from '../../transforms/simulate/simulator.js'
import { lifetimeModel, MOST_LIFETIME_BYTES } from '../../transforms/simulate/lifetimes/model.js'
import type { LifetimePredictor } from '../../transforms/simulate/lifetimes/predictor.js'
import { checkLifetimeModel } from '../../transforms/simulate/lifetimes/read-model.js'
import { byteCount, numberOf, orFlagError, refuseWithout, sizeOf, UsageError, type Arguments } from '../command.js'
import { PAGE } from '../defaults.js'
import { inputOperand, shortName, traceInput } from '../input.js'
import { readJson, refuseUnused, writeModel } from '../json-model.js'
import { canReadAgain, openTraining, trainOn } from '../lifetime-training.js'
import { version } from '../main.js'
import { outputFormat } from '../output-format.js'
import { outputOf, refuseInputs, writePieces, writeText, type Output } from '../output.js'
import { runJob, runTrace } from '../pipeline.js'
import { SimulationReport } from '../report/simulation.js'
import { columnsOf, WIDE_COLUMNS } from '../row-names.js'
import { say } from '../say.js'
import { simulate } from './simulate.js'

const BYTES = ['header', 'alignment', 'smallest', 'page', 'trim', 'arena-size'] as const
/** The flags of arenas, which need `--predict`. */
const ARENA_FLAGS = ['threshold', 'frames', 'general', 'arenas', 'arena-size'] as const
/** The options that policies have when they are compared. */
const OF_COMPARED: ReadonlySet<string> = new Set(['policy', 'predict', 'general', 'arenas', 'arenaSize'])
/** The flags that make the output a trace. */
const TRACE = ['output', 'to', 'arrow'] as const
/** The flags that a trace as output has besides. */
const OF_TRACE = ['gzip', 'zstd', 'strict'] as const
/** The flags that a page has no use for. */
const NOT_OF_PAGE = ['json', 'strict'] as const
/** The flags that a model has values for. */
const OF_TRAINING = ['threshold', 'frames'] as const
/** The flags that have an effect on what is learned and written. */
const OF_MODEL = ['predict', 'write-model', ...OF_TRAINING]
const STANDARD_INPUT = ['-', '/dev/stdin', '/dev/fd/0', '/proc/self/fd/0']
const TRUNCATED = 'The trace is truncated: these are the figures of the part that was read.'
/** The names of files that are pages. */
const PAGE_NAME = /[^/]\.html?(\.(gz|zst))?$/i

/** Runs `hf-simulate`. @throws UsageError */
export async function runSimulate(args: Arguments): Promise<void> {
  const compared = args.all('compare') as readonly (PolicyName | 'all')[]
  const policy = args.value('policy') as PolicyName | undefined
  const target = TRACE.find((flag) => args.has(flag))
  const modelFile = args.value('write-model')
  if (modelFile !== undefined) return writeLearned(args, modelFile)
  if (policy === undefined && compared.length === 0) throw new UsageError('--policy or --compare is needed')
  if (policy !== undefined && compared.length > 0) throw new UsageError('--policy and --compare cannot be combined')
  const isPage = wantsPage(args)
  if (target !== undefined && !isPage) return simulateTrace(args, policy, target)
  if (!isPage) refuseWithout(args, OF_TRACE, '-o, --to or --arrow: the output is a trace then')
  const unused = isPage ? NOT_OF_PAGE.find((flag) => args.has(flag)) : undefined
  if (unused !== undefined) throw new UsageError(`--${unused} is not for a page`)
  const input = inputOperand(args)
  // A page on a terminal is useless.
  const output = isPage ? outputOf(args, [input], true) : undefined
  if (output === undefined) refuseInputs(args, [input], '-')
  const predict = await predictorOf(args, input, compared.includes('all'))
  const simulators =
    policy === undefined ? comparedSimulators(args, compared, predict) : [simulatorOf(args, policy, true, predict)]
  const isPredicted = policy !== undefined && predict !== undefined
  // The heap without arenas, with which it is compared.
  if (isPredicted) simulators.push(simulatorOf(args, simulators[0].settings.prediction?.general ?? 'first-fit', true))
  const report = new SimulationReport(simulators, args.has('json'), isPredicted, predict?.training.shortSites)
  let failure: { error: unknown } | undefined
  try {
    const through = chain<EventBatch, Uint8Array>(caveats(), report)
    await runTrace({ command: 'hf-simulate', input: traceInput(input), through })
  } catch (error) {
    failure = { error }
  }
  const { unlisted } = report
  if (unlisted !== undefined) say('hf-simulate', `warning: ${unlisted}`)
  // Events before a fault count nevertheless.
  if (output !== undefined) return writePage(output, input, report, failure)
  const text = report.text(columnsOf(args, WIDE_COLUMNS))
  if (text !== '') await writeText('-', text)
  if (failure !== undefined) throw failure.error
}

/** Writes what is learned of a trace. */
async function writeLearned(args: Arguments, target: string): Promise<void> {
  const training = args.value('predict')
  if (training === undefined) throw new UsageError('--write-model needs --predict TRAIN')
  const [operand] = args.operands
  if (operand !== undefined)
    throw new UsageError(`--write-model simulates nothing, so it needs no trace besides that of --predict: ${operand}`)
  refuseUnused(args, simulate.flags, OF_MODEL)
  const output = outputOf(args, [], false, target)
  const predictor = await predictorOf(args, '', false)
  if (predictor !== undefined) await writeModel(output, lifetimeModel(predictor), MOST_LIFETIME_BYTES)
}

/** Whether the output is a page: `--to html`, or the name says it. */
function wantsPage(args: Arguments): boolean {
  if (args.has('arrow') || args.has('to')) return args.value('to') === PAGE && !args.has('arrow')
  return PAGE_NAME.test(args.value('output') ?? '')
}

/** Writes the figures as a page; after a fault, the figures of the events before it. */
async function writePage(
  output: Output,
  input: string,
  report: SimulationReport,
  failure: { error: unknown } | undefined,
): Promise<void> {
  const { simulationPieces } = await import('../../streams/simulation-page.js')
  const traces = report.traces()
  const notes = failure === undefined ? [] : [TRUNCATED]
  if (report.unlisted !== undefined) notes.push(`Of the input, ${report.unlisted}.`)
  const name = shortName(input)
  const generator = `heapflow ${version()}`
  const pieces = function* () {
    if (traces.length > 0 || failure === undefined)
      yield* simulationPieces({ version: 1, name, generator, notes, traces })
    if (failure !== undefined) throw failure.error
  }
  await writePieces(output, pieces())
}

/** Writes the trace with its simulated addresses. */
async function simulateTrace(args: Arguments, policy: PolicyName | undefined, target: string): Promise<void> {
  if (policy === undefined)
    throw new UsageError(
      `--${target} needs --policy: the trace has the addresses of one policy; --compare writes a page to FILE.html`,
    )
  if (policy === 'ideal') throw new UsageError(`--${target}: ideal moves blocks at each event, so it has no addresses`)
  if (args.has('json')) throw new UsageError(`--json and --${target} cannot be combined: --json is for the figures`)
  const to = await outputFormat(args)
  const input = inputOperand(args)
  const stages = [caveats(), simulatorOf(args, policy, false, await predictorOf(args, input, false))]
  await runJob({ command: 'hf-simulate', args, input: traceInput(input), stages, to })
}

/** One simulator for each policy; that with arenas comes after `bump`. */
function comparedSimulators(
  args: Arguments,
  compared: readonly (PolicyName | 'all')[],
  predict: LifetimePredictor | undefined,
): Simulator[] {
  const chosen = compared.includes('all') ? POLICIES : [...new Set(compared as readonly PolicyName[])]
  if (args.has('predict') && !chosen.includes('bump')) throw new UsageError('--predict needs bump: --compare bump')
  return chosen.flatMap((name) => [
    simulatorOf(args, name, true),
    ...(name === 'bump' && predict !== undefined ? [simulatorOf(args, name, true, predict)] : []),
  ])
}

/**
 * What `--predict` learns or reads, or `--compare all` of a file whose blocks have sites.
 * @param input the trace that is simulated @param isTried whether that is learned from in any case
 * @throws UsageError
 */
async function predictorOf(args: Arguments, input: string, isTried: boolean): Promise<LifetimePredictor | undefined> {
  const training = args.value('predict')
  if (training === undefined) refuseWithout(args, ARENA_FLAGS, '--predict')
  const policy = args.value('policy')
  if (training !== undefined && policy !== undefined && policy !== 'bump')
    throw new UsageError(`--predict is an option of bump, not ${policy}`)
  if (training !== undefined && STANDARD_INPUT.includes(training) && STANDARD_INPUT.includes(input))
    throw new UsageError('--predict and the trace cannot both be standard input: name a file, which is read twice')
  const { isModel, source } = training === undefined ? { isModel: false } : await openTraining(training)
  if (training !== undefined && isModel) {
    const given = OF_TRAINING.find((flag) => args.has(flag))
    if (given !== undefined) throw new UsageError(`--${given}: the model of --predict has one already`)
    return readJson(training, MOST_LIFETIME_BYTES, checkLifetimeModel, source)
  }
  const isSame = training === undefined || training === input
  if (training === undefined && !(isTried && canReadAgain(input))) return undefined
  const frames = numberOf(args, 'frames')
  const threshold = sizeOf(args, 'threshold')
  const options = {
    ...(threshold !== undefined && { threshold }),
    ...(frames !== undefined && { frames }),
  }
  const predictor = await trainOn(training ?? input, options, isSame, source)
  return training === undefined && !predictor.training.hasSites ? undefined : predictor
}

/** @throws UsageError for options that are out of range, or of another policy */
function simulatorOf(args: Arguments, policy: PolicyName, isMeasured: boolean, predict?: LifetimePredictor): Simulator {
  const values: Record<string, unknown> = { policy }
  for (const flag of ['list', 'coalescing', 'glibc', 'jemalloc', 'tcache'])
    if (args.has(flag)) values[flag] = args.value(flag)
  for (const flag of BYTES) if (args.has(flag)) values[flag === 'arena-size' ? 'arenaSize' : flag] = sizeOf(args, flag)
  if (args.has('classes')) values['classes'] = classesOf(args.value('classes') as string)
  if (args.has('bits')) values['bits'] = Number(args.value('bits'))
  if (args.has('general')) values['general'] = args.value('general')
  if (args.has('arenas')) values['arenas'] = numberOf(args, 'arenas')
  if (predict === undefined) for (const name of ['general', 'arenas', 'arenaSize']) delete values[name]
  else values['predict'] = predict
  const other = Object.keys(values).find((name) => !OF_COMPARED.has(name))
  if (args.has('compare') && other !== undefined)
    throw new UsageError(`--compare takes the default options: --${other} needs --policy`)
  return orFlagError(values, () => new Simulator(values as object as SimulateOptions, isMeasured))
}

function classesOf(text: string): NonNullable<SimulateOptions['classes']> {
  const rule = CLASS_RULES.find((name) => name === text)
  if (rule !== undefined) return rule
  const sizes = text.split(',').map(byteCount)
  if (sizes.every(Number.isSafeInteger)) return sizes
  throw new UsageError(
    `--classes needs sizes with commas between them, or one of ${CLASS_RULES.join(', ')}, not ${JSON.stringify(text)}`,
  )
}
