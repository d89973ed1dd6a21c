import { TraceError } from '../../event/error.js'
import { hasInventedAddresses, UNVERIFIED } from '../../event/header.js'
import { plural } from '../../event/message-text.js'
import { FAULTS, MAX_SIZE, type FaultName } from '../../transforms/option-values.js'
import { MAX_REPAIR_WINDOW, Repair, REPAIRS } from '../../transforms/repair/repair.js'
import { parseRange } from '../../transforms/predicates/ranges.js'
import { Verifier } from '../../transforms/verify.js'
import { numberOf, refuseWith, refuseWithout, UsageError, type Arguments } from '../command.js'
import { PLACES, REPAIR_WINDOW } from '../defaults.js'
import { inputOperand, traceInput } from '../input.js'
import { refuseInputs, writeText } from '../output.js'
import { outputFormat } from '../output-format.js'
import { runJob, runTrace, sink } from '../pipeline.js'
import { say } from '../say.js'

const FAULT_FOUND = 1

/** Runs `hf-verify`. @throws UsageError */
export async function runVerify(args: Arguments): Promise<void> {
  await (args.has('repair') ? repairTrace(args) : checkTrace(args))
}

async function checkTrace(args: Arguments): Promise<void> {
  refuseWithout(args, ['output', 'gzip', 'zstd', 'to', 'arrow', 'strict', 'window'], '--repair')
  const input = inputOperand(args)
  refuseInputs(args, [input], '-')
  const verifier = new Verifier({
    allow: args.all('allow') as FaultName[],
    maxSize: maxSize(args),
    places: numberOf(args, 'places') ?? PLACES,
  })
  const report = args.has('json') ? faultsJson : faultsText
  let isIdentified = true
  const through = sink((batch) => {
    isIdentified &&= !hasInventedAddresses(batch.header)
    verifier.check(batch)
  })
  let cut: string | undefined
  try {
    await runTrace({ command: 'hf-verify', input: traceInput(input), through })
  } catch (error) {
    if (error instanceof TraceError && error.code === 'ERR_TRACE_TRUNCATED') {
      cut = error.message
      verifier.noteCut(cut)
    } else {
      // Events before it count nevertheless.
      if (error instanceof TraceError && (args.has('json') || verifier.events > 0))
        await writeText('-', report(verifier, error.message))
      throw error
    }
  }
  if (!isIdentified) say('hf-verify', `warning: ${UNVERIFIED}`)
  // Before it is written, because its reader may close it.
  if (verifier.counts.size > 0) process.exitCode = FAULT_FOUND
  await writeText('-', report(verifier, cut))
}

async function repairTrace(args: Arguments): Promise<void> {
  const output = args.value('output')
  if (output === undefined) throw new UsageError('--repair needs -o FILE: the file to write')
  refuseWith(args, ['places', 'json'], 'repair')
  const window = numberOf(args, 'window', 1, MAX_REPAIR_WINDOW) ?? REPAIR_WINDOW
  const stage = new Repair({ window, maxSize: maxSize(args), allow: args.all('allow') as FaultName[] })
  let cut: string | undefined
  await runJob({
    command: 'hf-verify',
    args,
    input: traceInput(inputOperand(args), { onTruncated: (error) => (cut = error.message) }),
    stages: [stage],
    to: await outputFormat(args),
  })
  const lines = [...stage.changes].map(([name, n]) => `${name}  ${n}  ${REPAIRS[name]}`)
  if (cut !== undefined) lines.push(`end-added  1  the trace is cut off: ${cut}`)
  // Standard output may be the trace.
  for (const line of lines.length > 0 ? lines : ['nothing to repair']) say('hf-verify', line)
}

function maxSize(args: Arguments): bigint {
  const text = args.value('max-size')
  if (text === undefined) return MAX_SIZE
  try {
    const { from, to } = parseRange(text)
    if (from === to && from !== undefined) return from
  } catch {
    // Reported below.
  }
  throw new UsageError(`--max-size needs a number of bytes, which may end in K, M or G, not ${JSON.stringify(text)}`)
}

/** @param error why the trace could not be read to its end */
function faultsText({ counts, findings, events, lost }: Verifier, error?: string): string {
  const lines = lost.warnings('faults may be false or hidden')
  for (const fault of FAULTS) {
    const n = counts.get(fault)
    if (n === undefined) continue
    lines.push(`${fault}: ${n}`)
    const places = findings.filter((finding) => finding.fault === fault)
    for (const { event, what } of places) lines.push(`  event ${event}: ${what}`)
    if (places.length < n) lines.push(`  and ${n - places.length} more`)
  }
  const all = [...counts.values()].reduce((sum, n) => sum + n, 0)
  const found = all === 0 ? 'no faults' : plural(all, 'fault')
  lines.push(`${plural(events, 'event')}${error === undefined ? '' : ' could be read'}, ${found}`)
  return lines.join('\n') + '\n'
}

/** @param error why the trace could not be read to its end */
function faultsJson({ counts, findings, events, lost }: Verifier, error?: string): string {
  const found = { faults: Object.fromEntries(counts), places: findings, error }
  return JSON.stringify({ events, lost: lost.places, lostEvents: lost.events, ...found }) + '\n'
}
