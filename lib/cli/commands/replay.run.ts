import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'
import { caveats } from '../../event/caveats.js'
import { chain } from '../../event/chain.js'
import { passOn } from '../../event/pass-on.js'
import type { PoolGain } from '../../exports/simulation/pools.js'
import { callsOf } from '../../transforms/drive/comparison.js'
import type { OrderName } from '../../transforms/drive/layout.js'
import { Preparation } from '../../transforms/drive/preparation.js'
import type { PreparedReplay } from '../../transforms/drive/result.js'
import { Interrupted, numberOf, oneOf, orUsageError, refuseWith, UsageError, type Arguments } from '../command.js'
import { REPLAY_LIMIT, REPLAY_RUNS } from '../defaults.js'
import { allocatorOf, installedAllocators, type Allocator, SYSTEM } from '../drive/allocators.js'
import { compare } from '../drive/comparison.js'
import { measure } from '../drive/measure.js'
import { PoolSurvey } from '../drive/pools.js'
import { Driver, REPLAY_DRIVER } from '../drive/runs.js'
import { endedBySignals } from '../end-by-signal.js'
import { inputOperand, traceInput } from '../input.js'
import { canReadAgain } from '../lifetime-training.js'
import { refuseInputs, writeText } from '../output.js'
import { runTrace, type TraceRun } from '../pipeline.js'
import { canMake, compiled } from '../../streams/record/compiled.js'
import { recordingFolder } from '../../streams/record/folder.js'
import { androidText, replayText, skippedText, verifiedText } from '../report/replay.js'
import { failure, NOTHING, verdict } from '../report/replay-verdict.js'
import { columnsOf, WIDE_COLUMNS } from '../row-names.js'
import { say } from '../say.js'

/** Flags that exclude each other. */
const FORMS = ['verify', 'json', 'android'] as const
/** The flags of what is measured: verification writes to all of each block, once. */
const MEASURED = ['runs', 'touch', 'pace'] as const

/** Runs `hf-replay`. @throws UsageError */
export async function runReplay(args: Arguments): Promise<void> {
  const form = oneOf(args, FORMS)
  if (form === 'verify') refuseWith(args, MEASURED, form)
  const runs = numberOf(args, 'runs', 1, 1000) ?? REPLAY_RUNS
  const limit = numberOf(args, 'limit', 1, 86_400) ?? REPLAY_LIMIT
  const touch = args.value('touch') ?? 'all'
  const input = inputOperand(args)
  const allocators = allocatorsOf(args, form === 'android')
  if (process.platform !== 'linux') throw new Error('hf-replay needs Linux: it measures by /proc')
  if (!canMake(REPLAY_DRIVER)) throw new Error('hf-replay needs a C compiler, which is called cc or named in CC')
  const output = args.value('output')
  if (output === '-') throw new UsageError('the operations are no stream: name a file with -o')
  // The report is on standard output, whatever -o names.
  for (const path of output === undefined ? ['-'] : ['-', output]) refuseInputs(args, [input], path)
  const folder = recordingFolder()
  try {
    const clear = () => rmSync(folder, { recursive: true, force: true })
    const program = await endedBySignals('hf-replay', clear, () => compiled(REPLAY_DRIVER, folder), [input])
    const operations = output ?? join(folder, 'trace.ops')
    const isMeasured = form === undefined || form === 'json'
    const survey = isMeasured && canReadAgain(input) ? new PoolSurvey() : undefined
    const { trace, fault } = await prepare(args, input, operations, survey)
    const pools = (await survey?.gain(input)) ?? null
    const skipped = skippedText(trace)
    if (skipped !== undefined) say('hf-replay', `warning: ${skipped}`)
    if (touch === 'all' && trace.peak.bytes > freemem())
      throw new Error(
        `the trace has ${trace.peak.bytes} live bytes, more than there is free memory` +
          (form === 'verify' ? '' : ': --touch none does not use it'),
      )
    const driver = new Driver(program, operations, folder, limit)
    const isFaulty = await endedBySignals(
      'hf-replay',
      () => {
        driver.stop()
        clear()
      },
      () => present(args, driver, allocators, trace, touch, runs, pools),
    )
    if (fault !== undefined) throw fault.error
    if (isFaulty) process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs the allocators and writes what they show. @returns whether verification found a fault */
async function present(
  args: Arguments,
  driver: Driver,
  allocators: readonly Allocator[],
  trace: PreparedReplay,
  touch: string,
  runs: number,
  pools: PoolGain | null,
): Promise<boolean> {
  const paced = args.has('pace')
  const isEmpty = callsOf(trace) === 0
  if (args.has('verify')) {
    const results = []
    for (const allocator of isEmpty ? [] : allocators)
      results.push({ name: allocator.name, run: await driver.run(allocator, ['verify=1']) })
    await writeText('-', isEmpty ? `${NOTHING}\n` : verifiedText(trace, results, columnsOf(args, WIDE_COLUMNS)))
    return results.some(({ run }) => run.damaged + run.misaligned + run.failed > 0)
  }
  const isAndroid = args.has('android')
  const settings = { touch, runs, paced, step: isAndroid ? 100_000 : 0 }
  const { empty, all } = await measure(driver, isEmpty && !isAndroid ? [] : allocators, settings)
  const options = { order: args.value('order') ?? 'epochs', touch, paced, runs }
  const comparison = compare(trace, options, empty, all)
  if (args.has('json'))
    await writeText('-', `${JSON.stringify({ ...comparison, pools, verdict: verdict(comparison, pools) })}\n`)
  else if (isAndroid) {
    const { name, failed } = comparison.allocators[0]
    if (failed > 0)
      say('hf-replay', `warning: ${failure(name, failed, trace, 'the figures are not those of the trace')}`)
    await writeText('-', androidText(inputOperand(args), trace, comparison, all[0].watched))
  } else await writeText('-', replayText(comparison, columnsOf(args, WIDE_COLUMNS), pools))
  return false
}

/**
 * Writes the operations of a trace. Those before a fault count, unless they are the output. A signal ends it as it ends
 * other commands that write files.
 * @param survey examines the events
 */
async function prepare(
  args: Arguments,
  input: string,
  path: string,
  survey: PoolSurvey | undefined,
): Promise<{ trace: PreparedReplay; fault: { error: unknown } | undefined }> {
  const preparation = new Preparation({
    order: (args.value('order') ?? 'epochs') as OrderName,
    times: args.has('pace'),
  })
  const examined = passOn((batch) => survey?.add(batch))
  const through = chain(caveats(), chain(examined, preparation))
  const run = (output: TraceRun['output']) =>
    runTrace({ command: 'hf-replay', input: traceInput(input), through, output, signals: true })
  let fault: { error: unknown } | undefined
  if (args.has('output')) await run({ path, compression: undefined })
  else {
    const fd = openSync(path, 'wx', 0o600)
    try {
      await run((chunk) => writeAll(fd, chunk))
    } catch (error) {
      if (error instanceof Interrupted || preparation.result().events === 0 || !preparation.isOver) throw error
      fault = { error }
    } finally {
      closeSync(fd)
    }
  }
  const trace = preparation.result()
  if (args.has('pace') && trace.duration === null) throw new UsageError('--pace: the trace has no times')
  return { trace, fault }
}

function writeAll(fd: number, chunk: Uint8Array): void {
  for (let at = 0; at < chunk.length;) at += writeSync(fd, chunk, at)
}

/** The allocators that are named, or all that are installed. */
function allocatorsOf(args: Arguments, isOne: boolean): Allocator[] {
  const words = args.all('allocator')
  if (isOne && words.length > 1) throw new UsageError('--android is the report of one allocator')
  if (words.length === 0) return installedAllocators(isOne ? [SYSTEM] : undefined)
  return orUsageError(() => [...new Set(words)].map(allocatorOf), '--allocator: ')
}
