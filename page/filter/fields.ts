import { parseFrame } from '../../lib/event/frame.js'
import { namedFrameText } from '../../lib/names/named-frame.js'
import type { Integer, ReportData } from '../../lib/transforms/report/result.js'
import { literal } from '../parts/text.js'
import type { Criterion } from '../worker/messages.js'

/** A criterion of hf-filter that takes a text. */
export interface Field {
  /** The flag. */
  readonly flag: string
  readonly label: string
  readonly hint: string
  /** Several values may be given, separated by commas. */
  readonly isList?: boolean
  /** Whether events of this trace can meet it; true if absent. */
  has?(data: ReportData): boolean
  /** Values to choose from. */
  choices?(data: ReportData): readonly string[]
}

/** The maximum number of names to choose from. */
const MAX_CHOICES = 500

/** Names of frames that are no function's. */
const NO_FUNCTIONS: ReadonlySet<string> = new Set(['[unknown]', '[others]', '(other)'])

const RANGE = 'A..B, A.. or ..B'
const NAME = 'name or /expression/'

/** The fields of the form, in their order. */
export const FIELDS: readonly Field[] = [
  {
    flag: 'thread',
    label: 'Thread',
    hint: 'number',
    isList: true,
    has: ({ threads }) => threads.thread.some((one) => one !== null),
    choices: ({ threads }) => known(threads.thread),
  },
  {
    flag: 'process',
    label: 'Process',
    hint: 'number, or none',
    isList: true,
    has: ({ summary }) => summary.processCount > 0,
    choices: ({ threads }) => known(threads.process),
  },
  { flag: 'cpu', label: 'CPU', hint: 'number', isList: true, has: ({ summary }) => summary.cpuCount > 0 },
  { flag: 'size', label: 'Size', hint: `${RANGE}, such as 4K..`, isList: true },
  {
    flag: 'address',
    label: 'Address',
    hint: `${RANGE}, such as 0x5500..`,
    isList: true,
    has: ({ addresses }) => addresses !== undefined,
  },
  { flag: 'part', label: 'Part of the run', hint: 'events A..B, or 10ms..20ms' },
  { flag: 'events', label: 'Events', hint: `${RANGE}, counted from 1`, isList: true },
  {
    flag: 'time',
    label: 'Time',
    hint: "10ms..20ms, or the trace's numbers",
    isList: true,
    has: ({ summary }) => summary.time !== undefined,
  },
  named('function', 'Function', functions),
  named('stack', 'On the stack', functions),
  named('file', 'Source file'),
  named('module', 'Module'),
  named('type', 'Type'),
  { flag: 'live-at', label: 'Live at', hint: 'event, 10ms, time:T or peak', choices: () => ['peak'] },
  { flag: 'depth', label: 'Stack depth', hint: 'innermost frames' },
]

/** A criterion of hf-filter that is given or not. */
export interface Switch {
  readonly flag: string
  readonly label: string
  readonly help: string
  /** Changes what other criteria mean: without any, it is left out. */
  readonly isModifier?: boolean
}

/** The switches of the form. */
export const SWITCHES: readonly Switch[] = [
  { flag: 'leaked', label: 'leaked only', help: 'allocations whose block is never freed, and its reallocs' },
  { flag: 'temporary', label: 'temporary only', help: 'allocations that the next call of the process frees' },
  { flag: 'invert', label: 'invert', help: 'what does not meet all criteria', isModifier: true },
  {
    flag: 'lifetimes',
    label: 'whole blocks',
    help: 'the reallocs and frees of every kept allocation, and no others; most frees have no size and no stack',
    isModifier: true,
  },
]

/** A field for a name, which has the name of the field of events. */
function named(flag: string, label: string, choices?: Field['choices']): Field {
  return { flag, label, hint: NAME, has: ({ fields }) => fields.includes(flag), ...(choices && { choices }) }
}

function known(values: readonly (Integer | null)[]): string[] {
  return [...new Set(values.filter((value) => value !== null).map(String))]
}

function functions({ frames }: ReportData): string[] {
  const names = frames.slice(0, MAX_CHOICES).map(functionOf)
  return [...new Set(names.filter((name) => name !== undefined).map(patternOf))]
}

/** The function of a frame; undefined if that is not known, or if the frame stands for several. */
function functionOf(frame: ReportData['frames'][number]): string | undefined {
  const { name, module } = frame
  return name === module || NO_FUNCTIONS.has(name) ? undefined : parseFrame(namedFrameText(frame)).function
}

/** The criterion for events with the function of a frame on their stacks; none if there cannot be one. */
export function criterionOf({ fields }: ReportData, frame: ReportData['frames'][number] | undefined): Criterion[] {
  const flag = ['stack', 'function'].find((field) => fields.includes(field))
  const name = frame && functionOf(frame)
  return flag === undefined || name === undefined ? [] : [[flag, patternOf(name)]]
}

/** The text that matches exactly this name, which might look like a regular expression. */
export function patternOf(name: string): string {
  if (!/^\/.*\/[imsu]*$/s.test(name)) return name
  return `/^${literal(name)}$/`
}
