import { parseFrame } from '../../event/frame.js'
import { OwnFrames } from '../../names/own-frames.js'
import type { SiteStatistics, Statistics } from '../../transforms/statistics/result.js'
import { bytes } from './columns.js'

/** The number of sites whose stacks are examined, the most bytes first, because stacks may be deep. */
const MOST_STACKS = 1000

const NO_PLACES = 'Most bytes have no call site: hf-record -- COMMAND records whole stacks.'
const NO_NAMES =
  'Most bytes are from code without a name: build it with -g, install its debug symbols, or see hf-symbolize.'
const NO_THREADS =
  'No event has a thread: hf-record -- COMMAND records them on Linux (x86-64, arm64), hf-record --with ltrace ' +
  'elsewhere.'
const PROCESSES =
  'The figures are those of several processes together: --section processes lists them, and hf-filter --process N ' +
  'shows one.'
const ENDLESS_PROCESSES =
  'Several processes, without their ends: what one leaves at its end is live to the end of the trace, so the peak ' +
  'has it, too; hf-filter --process N shows one.'

/** Recorded where hf-record does not run: in the kernel and on Android. */
const RECORDED_ELSEWHERE = ['kmemtrace', 'tracepoints', 'replay']

/** Ways to improve the answer, in sentences; none where nothing would, or nothing was allocated. */
export function advice(statistics: Statistics): string[] {
  const { sites, threads, processes, events, allocated, formats, kinds } = statistics
  if (allocated.bytes === 0n) return []
  const mayRecord = !formats.some((name) => RECORDED_ELSEWHERE.includes(name))
  const own = new OwnFrames()
  // The sites with the most bytes come first, and half of the bytes are at few of them.
  const hasMost = (which: (site: SiteStatistics) => boolean, most = Infinity): boolean => {
    const sums = [0n, 0n] as [bigint, bigint]
    for (const [i, site] of sites.entries()) {
      if (i === most) return sums[1] > sums[0]
      sums[which(site) ? 1 : 0] += site.allocated.bytes
      if (2n * sums[1] > allocated.bytes || 2n * sums[0] >= allocated.bytes) break
    }
    return 2n * sums[1] > allocated.bytes
  }
  return [
    ...knownLeaks(statistics),
    ...(mayRecord && hasMost(({ rest }) => rest === 'none') ? [NO_PLACES] : []),
    ...(hasMost((site) => isUnnamed(site, own), MOST_STACKS) ? [NO_NAMES] : []),
    ...(mayRecord && threads.every(({ thread }) => thread === undefined) ? [NO_THREADS] : []),
    // The first process of a recording has no number.
    ...(mayRecord && (processes.length > 1 || processes.some((one) => one.events < events))
      ? [kinds['process-end'] === undefined ? ENDLESS_PROCESSES : PROCESSES]
      : []),
  ]
}

/** The most frequent of the leaks that `--suppress-known` leaves out: the rules would take longer to load. */
const POOL = /^in \S*\/libstdc\+\+\.so\S* .*\n(?:call_init |in \S*\/ld-)/
const LOADER = /^(?:_dl_allocate_tls|__tls_get_addr|_GLOBAL__sub_I_eh_alloc\.cc|dl_open_worker)\b/m

/** The number of innermost frames among which they are. */
const MOST_FRAMES = 16

/** Advice if at least a tenth of the leaks are known and were not suppressed. */
function knownLeaks({ sites, leaked, suppressed }: Statistics): string[] {
  if (suppressed !== undefined) return []
  let known = 0n
  for (const { leaked: amount, stack } of sites.slice(0, MOST_STACKS)) {
    if (amount.blocks === 0 || stack === undefined) continue
    const text = stack.slice(0, MOST_FRAMES).join('\n')
    if (POOL.test(text) || LOADER.test(text)) known += amount.bytes
  }
  if (known * 10n < leaked.bytes || known === 0n) return []
  return [`${bytes(known)} of the leaks, or more, are what libraries keep until the end: see --suppress-known.`]
}

/** Whether only the module is known of the frame with which the site's row begins. */
export function isUnnamed({ stack = [] }: Pick<SiteStatistics, 'stack'>, own: OwnFrames): boolean {
  if (stack.length === 0) return false
  const frame = parseFrame(stack[own.start(stack)])
  return frame.function === undefined && frame.file === undefined && frame.module !== undefined
}
