import { statSync } from 'node:fs'
import { Filter, neededEvents, needsSurvey, type FilterOptions } from '../../transforms/filter.js'
import { orFlagError, UsageError, type Arguments } from '../command.js'
import { filterOptions } from '../filter-options.js'
import { inputOperand, traceInput, type StreamInput } from '../input.js'
import { outputFormat } from '../output-format.js'
import { runJob } from '../pipeline.js'

/** Runs `hf-filter`. @throws UsageError */
export async function runFilter(args: Arguments): Promise<void> {
  const to = await outputFormat(args)
  const path = inputOperand(args)
  const options = { ...filterOptions(args), ...(await partOptions(args, path)) }
  const hasTwoPasses = needsSurvey(options)
  const stage = orFlagError(options, () => new Filter(options, hasTwoPasses ? [] : undefined), 'filter')
  const readsFile =
    hasTwoPasses ||
    (neededEvents(options) !== undefined && (await import('../../streams/io/compact-file.js')).isCompactFile(path))
  const input = readsFile ? await partInput(path, options) : traceInput(path)
  await runJob({ command: 'hf-filter', args, input, stages: readsFile ? [] : [stage], to })
}

/** What is kept of a file that is read twice, or of which a part is read. */
async function partInput(path: string, options: FilterOptions): Promise<StreamInput> {
  const [{ filterFile }, { mergedInput }] = await Promise.all([
    import('../../streams/filter-file.js'),
    import('../streaming.js'),
  ])
  return mergedInput([path], () => filterFile(path, options))
}

/** Flags with which more than a part would be read or kept. */
const WHOLE = ['events', 'invert', 'leaked', 'temporary', 'live-at']

/** More parts than any trace needs. */
const MAX_PARTS = 999_999_999n

/** The events of `--part`. @throws UsageError @throws TraceError if the trace is truncated or damaged */
async function partOptions(args: Arguments, path: string): Promise<FilterOptions> {
  const text = args.value('part')
  if (text === undefined) return {}
  const other = WHOLE.find((name) => args.has(name))
  if (other !== undefined) throw new UsageError(`--part and --${other} cannot be combined`)
  const [part, parts] = (/^([1-9]\d*)\/([1-9]\d*)$/.exec(text) ?? []).slice(1).map(BigInt)
  if (parts !== undefined && parts > MAX_PARTS)
    throw new UsageError(`--part: a trace has at most ${MAX_PARTS} parts, not ${parts}`)
  if (part === undefined || parts === undefined || part > parts)
    throw new UsageError(`--part needs the number of a part and that of all, such as 2/8, not ${JSON.stringify(text)}`)
  // A file that is missing is a fault of its own.
  if (path !== '-') statSync(path)
  const count = (await import('../../streams/io/compact-file.js')).compactEvents(path)
  if (count === undefined)
    throw new UsageError('--part needs a compact trace with checkpoints, named as a file: compact-encode --checkpoint')
  const from = (BigInt(count) * (part - 1n)) / parts + 1n
  const to = (BigInt(count) * part) / parts
  if (from > to) throw new UsageError(`--part: the trace has only ${count} events`)
  return { events: { from, to } }
}
