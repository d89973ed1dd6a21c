import { AllocatorSurvey, type AllocatorReport } from '../../allocators/survey.js'
import type { JemallocSettings } from '../../allocators/settings.js'
import type { EventBatch } from '../../event/batch.js'
import { hasInventedAddresses } from '../../event/header.js'
import { encodeText } from '../../event/strings.js'
import { jsonText } from './json.js'
import { UsageError } from '../command.js'
import { FinalReport } from './final-report.js'
import { otherTraces } from './mpatrol.js'

interface AllocatorReportOptions {
  readonly json?: boolean
  /** Which trace of the stream to take. Default 1, with a warning if there are more. */
  readonly trace?: number | undefined
}

/** Reports which allocator the addresses of a trace come from, and how many of them its simulation predicts. */
export class AllocatorReportStage extends FinalReport {
  private readonly survey = new AllocatorSurvey()

  constructor(private readonly options: AllocatorReportOptions = {}) {
    super(options.trace ?? 1)
  }

  dispose(): void {
    this.survey.dispose()
  }

  /** @throws UsageError for a trace whose addresses are not the program's */
  protected add(batch: EventBatch): void {
    if (hasInventedAddresses(batch.header))
      throw new UsageError(
        '--allocator: an interpreted heaptrack file does not have the addresses of its blocks: use the raw file',
      )
    this.survey.add(batch)
  }

  protected report(): Uint8Array[] {
    const { options, traces } = this
    if (options.trace === undefined && traces > 1) this.warnings.push(otherTraces(traces))
    const report = this.survey.finish()
    return [encodeText(options.json === true ? jsonText(plain(report)) : allocatorText(report))]
  }
}

/** With a smaller share of the addresses, the version is a guess: it predicts at least this where a trace is whole. */
const CERTAIN = 0.99

const NEEDS = 'A simulation needs all calls of the program, and which functions it called: malloc, calloc and others.\n'

function plain({ settings, versions, isRecognized, blocks, predicted }: AllocatorReport): object {
  if (settings === undefined || versions === undefined || !isRecognized) return { allocator: null, blocks, predicted }
  const isCertain = predicted >= CERTAIN * blocks
  if (settings.allocator === 'jemalloc') {
    const { allocator, bits, version, cores, entries } = settings
    return { allocator, bits, version, isCertain, blocks, predicted, settings: { cores, entries } }
  }
  const { allocator, bits, cores, stack } = settings
  const glibc = versions.map((version) => `2.${version}`)
  return { allocator, bits, glibc, isCertain, blocks, predicted, settings: { version: settings.version, cores, stack } }
}

function allocatorText({ settings, versions, isRecognized, blocks, predicted }: AllocatorReport): string {
  if (settings === undefined || versions === undefined) return 'The trace has no blocks with address and size.\n'
  if (settings.allocator === 'jemalloc') return jemallocText(settings, isRecognized, blocks, predicted)
  const [first, last] = versions
  const range = first === last ? `2.${first}` : `2.${first} to 2.${last}`
  const share = shareOf(predicted, blocks)
  if (!isRecognized)
    return (
      `allocator   not recognized: the best simulation (glibc ${range}) predicts ${share} of ${blocks} addresses\n` +
      NEEDS
    )
  const { bits, cores = 0, stack = 0 } = settings
  const arenas = cores === 0 ? '' : `, arenas for ${cores} ${cores === 1 ? 'core' : 'cores'}`
  return (
    `allocator   ptmalloc of glibc ${range}, ${bits} bit${arenas}\n` +
    `stacks      ${stack === 0 ? 'not simulated' : `${stack} bytes for each thread`}\n` +
    `addresses   ${blocks}\n` +
    `predicted   ${predicted} (${share})\n` +
    (predicted < CERTAIN * blocks
      ? 'The version is not certain: the trace may lack calls of the program, or another version fits as well.\n'
      : '')
  )
}

function shareOf(predicted: number, blocks: number): string {
  return `${((100 * predicted) / blocks).toFixed(blocks > predicted ? 4 : 0)} %`
}

function jemallocText(
  { version, bits, entries }: JemallocSettings,
  isRecognized: boolean,
  blocks: number,
  predicted: number,
): string {
  const share = shareOf(predicted, blocks)
  if (!isRecognized)
    return (
      `allocator   not recognized: the best simulation (jemalloc ${version}) predicts ` +
      `${share} of ${blocks} addresses\n${NEEDS}`
    )
  return (
    `allocator   jemalloc ${version}, ${bits} bit\n` +
    (entries === undefined
      ? ''
      : `recorder    a block of ${entries[0]} bytes before each free, ${entries[1]} after others\n`) +
    `addresses   ${blocks}\n` +
    `predicted   ${predicted} (${share})\n`
  )
}
