import { CLASS_RULES, POLICIES, type PolicyName, type SimulateOptions } from '../../transforms/simulate/policies.js'
import { Simulator } from '../../transforms/simulate/simulator.js'
import { byteCount } from '../byte-count.js'
import { UsageError, type Arguments } from '../command.js'
import { inputOperand, traceInput } from '../input.js'
import { outputFormat } from '../output-format.js'
import { refuseSameFile, writeText } from '../output.js'
import { runJob, runTrace } from '../pipeline.js'
import { SimulationReport } from '../report/simulation.js'

const BYTES = ['header', 'alignment', 'smallest', 'page', 'trim'] as const
/** The flags that make the output a trace. */
const TRACE = ['output', 'to', 'arrow'] as const
/** The flags that a trace as output has besides. */
const OF_TRACE = ['gzip', 'zstd', 'strict'] as const

/** Runs `hf-simulate`. @throws UsageError */
export async function runSimulate(args: Arguments): Promise<void> {
  const compared = args.all('compare') as readonly (PolicyName | 'all')[]
  const policy = args.value('policy') as PolicyName | undefined
  const target = TRACE.find((flag) => args.has(flag))
  if (policy === undefined && compared.length === 0) throw new UsageError('--policy or --compare is needed')
  if (policy !== undefined && compared.length > 0) throw new UsageError('--policy and --compare cannot be combined')
  if (target !== undefined) return simulateTrace(args, policy, target)
  const unused = OF_TRACE.find((flag) => args.has(flag))
  if (unused !== undefined) throw new UsageError(`--${unused} needs -o, --to or --arrow: the output is a trace then`)
  const chosen = compared.includes('all') ? POLICIES : [...new Set(compared as readonly PolicyName[])]
  const simulators = (policy === undefined ? chosen : [policy]).map((name) => simulatorOf(args, name, true))
  const input = inputOperand(args)
  refuseSameFile(input, '-')
  const report = new SimulationReport(simulators, args.has('json'))
  let failure: { error: unknown } | undefined
  try {
    await runTrace({ command: 'hf-simulate', input: traceInput(input), through: report, output: () => {} })
  } catch (error) {
    failure = { error }
  }
  // Events before a fault count nevertheless.
  const text = report.text()
  if (text !== '') await writeText('-', text)
  if (failure !== undefined) throw failure.error
}

/** Writes the trace with its simulated addresses. */
async function simulateTrace(args: Arguments, policy: PolicyName | undefined, target: string): Promise<void> {
  if (policy === undefined)
    throw new UsageError(`--${target} needs --policy: the trace has the addresses of one policy`)
  if (policy === 'ideal') throw new UsageError(`--${target}: ideal moves blocks at each event, so it has no addresses`)
  if (args.has('json')) throw new UsageError(`--json and --${target} cannot be combined: --json is for the figures`)
  const to = await outputFormat(args, args.value('output') ?? '-')
  const stages = [simulatorOf(args, policy, false)]
  await runJob({ command: 'hf-simulate', args, input: traceInput(inputOperand(args)), stages, to })
}

/** @throws UsageError for options that are out of range, or of another policy */
function simulatorOf(args: Arguments, policy: PolicyName, isMeasured: boolean): Simulator {
  const values: Record<string, unknown> = { policy }
  for (const flag of ['list', 'coalescing', 'glibc']) if (args.has(flag)) values[flag] = args.value(flag)
  for (const flag of BYTES) if (args.has(flag)) values[flag] = bytesOf(flag, args.value(flag) as string)
  if (args.has('classes')) values['classes'] = classesOf(args.value('classes') as string)
  if (args.has('compare') && Object.keys(values).length > 1)
    throw new UsageError(`--compare takes the default options: --${Object.keys(values)[1] as string} needs --policy`)
  try {
    return new Simulator(values as object as SimulateOptions, isMeasured)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new UsageError(`--${error.message}`, { cause: error })
  }
}

function bytesOf(flag: string, text: string): number {
  const bytes = byteCount(text)
  if (!Number.isSafeInteger(bytes))
    throw new UsageError(`--${flag} needs a number of bytes, which may end in K, M or G, not ${JSON.stringify(text)}`)
  return bytes
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
