import { OwnFrames } from '../names/own-frames.js'
import { numberOf, oneOf, orUsageError, refuseWith, UsageError, type Arguments } from './command.js'
import { isTerminal } from './is-terminal.js'
import type { SiteNames } from './report/names.js'

/** The flags of `ROW_FLAGS`: how rows are written, and with which frame they begin. */
const WRITTEN = ['depth', 'full', 'tree', 'width'] as const
const BEGIN = ['hide', 'show'] as const
/** The columns of an output that is not a terminal, and the fewest and the most of any. */
const COLUMNS = 100
/** The columns of the same if its tables have many figures. */
export const WIDE_COLUMNS = 120
const LEAST_COLUMNS = 40
const MOST_COLUMNS = 10_000

/** The options for names of rows, from the arguments. @throws UsageError */
export function rowNames(args: Arguments): SiteNames {
  oneOf(args, ['tree', 'depth'])
  return {
    own: ownFrames(args),
    columns: columnsOf(args),
    full: args.has('full'),
    tree: args.has('tree'),
    depth: numberOf(args, 'depth', 1),
  }
}

/**
 * The maximum width of lines in columns: `--width`; for standard output, `COLUMNS`, as for git, ls and ps, or otherwise
 * the width of the terminal.
 * @param others those of any other output, if --width does not say them
 * @throws UsageError
 */
export function columnsOf(args: Arguments, others = COLUMNS): number {
  const width = numberOf(args, 'width', LEAST_COLUMNS, MOST_COLUMNS)
  if (width !== undefined) return width
  if ((args.value('output') ?? '-') !== '-') return others
  const told = process.env['COLUMNS'] ?? ''
  const columns = /^[1-9]\d{0,8}$/.test(told) ? Number(told) : isTerminal(1) ? process.stdout.columns : 0
  return Math.min(MOST_COLUMNS, Math.max(LEAST_COLUMNS, columns || others))
}

/** The frames with which no row begins. @throws UsageError */
export function ownFrames(args: Arguments): OwnFrames {
  if (args.has('hide') && args.has('show')) throw new UsageError('--hide and --show all cannot be combined')
  return new OwnFrames({
    hide: args.all('hide').map((text) => orUsageError(() => new RegExp(text), '--hide: ')),
    all: args.has('show'),
  })
}

/**
 * Refuses flags for rows if there are none.
 * @param begins whether there are rows that begin with some frame, even if the output is not text for readers
 * @throws UsageError
 */
export function refuseRowFlags(args: Arguments, form: string, begins = false): void {
  refuseWith(args, [...WRITTEN, ...(begins ? [] : BEGIN)], form)
}
