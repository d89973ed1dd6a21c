import { rmSync } from 'node:fs'
import { addAbortSignal, type Readable, type Writable } from 'node:stream'
import { wrongType } from '../event/error.js'
import { showValue } from '../event/message-text.js'
import { checkOptions, SIGNAL, type OptionNames } from '../event/options.js'
import { formatNamed, type FormatEntry } from '../formats/index.js'
import { givesEvents } from './gives-events.js'
import { closed } from './closed.js'
import { abortError, readTrace } from './io/open-trace.js'
import { refuseObstacle } from './record/executable.js'
import { recordingFolder } from './record/folder.js'
import { MAX_STACK_DEPTH, RECORDER_NAMES, type RecorderName } from './record/names.js'
import { chooseRecorder, SETTINGS } from './record/recorders.js'
import type { Descriptor } from './record/program.js'
import { Recording } from './record/recording.js'
import { sourceStream } from './source-stream.js'
import type { EventReadable } from './types.js'

/**
 * A standard stream of a recorded program: this process's stream (`inherit`), nothing, a pipe, or an open descriptor.
 */
export type StandardStream = 'inherit' | 'ignore' | 'pipe' | number

/** Options of `record`: how it runs a program, and what it records. */
export interface RecordOptions {
  /** The recorder. Default: heapflow's own where it can run, otherwise heaptrack or glibc's mtrace. */
  with?: RecorderName
  /** The maximum number of frames of a stack, 0 to 1024; 0 for no stacks. heapflow's own recorder only. Default 512. */
  stackDepth?: number
  /** Record the stacks of frees, too. heapflow's own recorder only. Default false. */
  freeStacks?: boolean
  /** Record the processes that the program starts. heapflow's own recorder only. Default true. */
  children?: boolean
  /** Drop and count events that are not read fast enough; otherwise the program waits. Default false. */
  drop?: boolean
  /** The program's folder. Default: this process's. */
  cwd?: string
  /** The program's environment. Default: this process's. */
  env?: NodeJS.ProcessEnv
  /** The program's standard input, output and error. Default: `inherit` for each. */
  stdio?: readonly [StandardStream, StandardStream, StandardStream]
  /** Ends the program when aborted, and the stream with an AbortError. */
  signal?: AbortSignal
}

/** The end of a recorded program. */
export interface RecordedEnding {
  /** Its exit status; 128 and the number of the signal if a signal ended it, as in shells. */
  readonly status: number
  /** The signal that ended it. */
  readonly signal?: string
}

/** The events of a program that runs. Destroying the stream ends the program. */
export interface RecordedProgram extends EventReadable {
  /**
   * Resolves when the program has ended, and the recorder with it. It never rejects. The recorder waits until the last
   * events are read, or the stream is closed. The program waits for events to be read, unless `drop` is set.
   */
  readonly ended: Promise<RecordedEnding>
  /** The streams that were requested as pipes; otherwise null. */
  readonly stdin: Writable | null
  readonly stdout: Readable | null
  readonly stderr: Readable | null
  /** Sends the program a signal; the stream goes on to its end. @returns whether it was sent */
  kill(signal?: NodeJS.Signals): boolean
  /** Destroys the stream. Resolves when the program has ended. */
  close(): Promise<RecordedEnding>
}

const OPTIONS: OptionNames<RecordOptions> = {
  with: RECORDER_NAMES,
  stackDepth: 'number',
  freeStacks: 'boolean',
  children: 'boolean',
  drop: 'boolean',
  cwd: 'string',
  env: { what: 'an object', is: (value) => typeof value === 'object' && value !== null },
  stdio: true,
  signal: SIGNAL,
}
/** The options that only heapflow's own recorder has. */
const OWN_OPTIONS = ['stackDepth', 'freeStacks', 'children', 'drop'] as const

const INHERIT = ['inherit', 'inherit', 'inherit'] as const

/**
 * Runs a program and gives its allocations as they happen, as `hf-record` does. The program starts at once. It ends
 * when the stream is destroyed or closed, `signal` is aborted, or `for await` is left: it and the processes below it
 * get SIGTERM, and SIGKILL after a second. Then the stream is closed, and nothing is left of the recording.
 *
 * Emits `warning` with a text, and `events` with the number of events of each batch. An incomplete trace, which
 * recorders other than heapflow's own may leave, ends with a TraceError. If the program cannot be started, the stream
 * ends with an Error.
 *
 * @param command the program and its arguments
 * @throws TypeError or RangeError for invalid arguments and options; RecorderError if there is no recorder; Error for a
 *   program that cannot be recorded, because it is linked statically, for example; AbortError if `signal` is aborted
 *
 * @example
 * const sink = stats()
 * const program = record(['git', 'log'], { stdio: ['inherit', 'ignore', 'inherit'] })
 * await pipeline(program, sink)
 * console.log((await sink.result).leaked.bytes, (await program.ended).status)
 */
export function record(command: readonly string[], options: RecordOptions = {}): RecordedProgram {
  checkOptions(options, OPTIONS, 'record')
  const program = checkCommand(command)
  const { with: name, env = process.env, cwd, signal, stackDepth = SETTINGS.depth } = options
  const stdio = checkStdio(options.stdio ?? INHERIT)
  if (!Number.isInteger(stackDepth) || stackDepth < 0 || stackDepth > MAX_STACK_DEPTH)
    throw new RangeError(`record: stackDepth must be an integer from 0 to ${MAX_STACK_DEPTH}, not ${stackDepth}`)
  if (signal?.aborted === true) throw abortError(signal)
  const { recorder, note } = chooseRecorder(name, false)
  const foreign = OWN_OPTIONS.find((option) => options[option] !== undefined)
  if (recorder.outlives !== true && foreign !== undefined)
    throw new RangeError(`record: ${foreign} needs heapflow's own recorder: ${recorder.name} has no such setting`)
  refuseObstacle(recorder, program, { env, cwd })
  const { freeStacks = false, children = true, drop = false } = options
  const settings = { ...SETTINGS, depth: stackDepth, freeStacks, children, drops: drop }
  const recording = begin((folder) => ({ recorder, words: command, stacks: false, settings, folder, stdio, env, cwd }))

  // Every recorder writes a format of the list.
  const format = formatNamed(recorder.format) as FormatEntry
  const trace = readTrace(program, () => recording.source, { format })
  const stream = sourceStream(
    () => trace.batches,
    () => recording.end(),
  )
  givesEvents(stream, 'record()')
  trace.on('warning', (text: string) => stream.emit('warning', text))
  trace.on('events', (count: number) => stream.emit('events', count))
  if (note !== undefined) process.nextTick(() => stream.emit('warning', note))
  if (signal !== undefined) addAbortSignal(signal, stream)
  const ended = recording.ended().then(({ status, signal: by }): RecordedEnding => ({
    status,
    ...(by !== undefined && { signal: by }),
  }))
  return Object.assign(stream as object as EventReadable, {
    ended,
    stdin: recording.stream(0) as Writable | null,
    stdout: recording.stream(1) as Readable | null,
    stderr: recording.stream(2) as Readable | null,
    kill: (by: NodeJS.Signals = 'SIGTERM') => recording.program.send(by),
    close: async () => {
      await closed(stream.destroy())
      return ended
    },
  })
}

/** Begins a recording, with a folder for its files. @throws Error; nothing is left then */
function begin(plan: (folder: string) => ConstructorParameters<typeof Recording>[0]): Recording {
  const folder = recordingFolder()
  try {
    return new Recording(plan(folder))
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** @returns the program. @throws TypeError */
function checkCommand(command: readonly string[]): string {
  const [program] = Array.isArray(command) ? (command as readonly unknown[]) : []
  const isText = (word: unknown) => typeof word === 'string' && !word.includes('\0')
  if (typeof program !== 'string' || program === '' || !command.every(isText))
    throw wrongType(
      `record: the command must be an array of texts, a program and its arguments, not ${showValue(command)}`,
    )
  return program
}

/** @returns the descriptors. @throws RangeError */
function checkStdio(stdio: readonly StandardStream[]): [Descriptor, Descriptor, Descriptor] {
  const isKnown = (value: unknown) =>
    value === 'inherit' || value === 'ignore' || value === 'pipe' || (Number.isInteger(value) && (value as number) >= 0)
  if (!Array.isArray(stdio) || stdio.length !== INHERIT.length || !stdio.every(isKnown))
    throw new RangeError(
      `record: stdio must be three of inherit, ignore, pipe or a descriptor, not ${showValue(stdio)}`,
    )
  return stdio.map((value: StandardStream, i) => (value === 'inherit' ? i : value)) as [
    Descriptor,
    Descriptor,
    Descriptor,
  ]
}
