import { rmSync, writeFileSync } from 'node:fs'
import { formatNamed } from '../../formats/index.js'
import { decodeAny } from '../../streams/decode.js'
import { Attachment } from '../../streams/record/attachment.js'
import { refuseObstacle } from '../../streams/record/executable.js'
import { recordingFolder } from '../../streams/record/folder.js'
import { MAX_STACK_DEPTH } from '../../streams/record/names.js'
import * as Recorders from '../../streams/record/recorders.js'
import { Recording } from '../../streams/record/recording.js'
import { numberOf, refuseWithout, UsageError, type Arguments } from '../command.js'
import { endBySignal } from '../end-by-signal.js'
import { COMPRESSED, outputFormat } from '../output-format.js'
import { outputOf } from '../output.js'
import { runJob } from '../pipeline.js'
import { recordToFile } from '../record/direct.js'
import { refuseOtherBytes } from '../record/other-bytes.js'
import { preloadText } from '../record/preload.js'
import { SignalRelay } from '../record/signals.js'
import { say } from '../say.js'

/** Names of raw files of heaptrack. */
const RAW = /\.raw(?:\.\w+)?$/

/** Names of files of heapflow's own recorder. */
const OWN = /\.hfrec$/i

/** The reason why heapflow's own recorder has no use for `--stack`. */
const NAMES_LATER = "heapflow's own recorder leaves the names of functions to hf-stats and hf-symbolize"

/** Runs `hf-record`. @throws UsageError */
export async function runRecord(args: Arguments): Promise<void> {
  if (args.has('print-preload')) return printPreload(args)
  const attachment = attachmentOf(args)
  const words = attachment?.words ?? args.operands
  const [command] = words
  if (command === undefined) throw new UsageError('name the program to record: hf-record -- COMMAND')
  if (attachment === undefined) refuseOtherBytes(words)
  const stacks = args.has('stack')
  const output = args.value('output') ?? '-'
  const isOwn = isOwnFormat(args, output)
  if (stacks && args.value('with') === 'recorder')
    throw new UsageError(`--stack and --with recorder exclude each other: ${NAMES_LATER}`)
  const { recorder, note }: Recorders.Choice =
    attachment ?? choose(args.value('with') ?? (isOwn ? 'recorder' : undefined), stacks)
  if (note !== undefined) say('hf-record', `note: ${note}`)
  const isDirect = isOwn && recorder.outlives === true
  // A pipe is read at once.
  const settings = settingsOf(args, recorder, isDirect && output !== '-')
  const to = isDirect ? undefined : await outputFormat(args, output, ['.hfrec'])
  const isBest = args.has('best')
  if (isBest && to?.name !== 'compact') throw new UsageError('--best is for compact traces: -o FILE.hfc')
  if (to === undefined) {
    const compression = (['gzip', 'zstd'] as const).find((flag) => args.has(flag))
    if (compression !== undefined)
      throw new UsageError(`--${compression}: the recorder writes the output itself, in its own format`)
    if (output === '-' && attachment !== undefined)
      throw new UsageError('--pid and --to recorder need -o FILE: the recording goes on when a reader has gone')
    if (output === '-') outputOf(args, [], true)
    await recordDirectly(recorder, words, output, settings, attachment)
    return
  }
  const format = await formatNamed(recorder.format)?.load()
  if (attachment === undefined) refuseObstacle(recorder, command, { env: process.env })
  const folder = recordingFolder()
  let recording: Recording | undefined
  let relay: SignalRelay | undefined
  let events = 0
  try {
    await runJob({
      command: 'hf-record',
      args,
      input: {
        paths: [],
        // By then the output is known to be writable, so the program does not run in vain.
        open: (through) => {
          const stdio = [0, output === '-' ? 2 : 1, attachment === undefined ? 2 : 'pipe'] as const
          // After the program's end the first signal ends the recording, and the second one the command.
          relay = new SignalRelay((signal) => {
            if (recording?.stop(signal) === true) return
            relay?.close()
            endBySignal('hf-record', signal)
          })
          recording = new Recording({ recorder, words, stacks, settings, folder, stdio, env: process.env, attachment })
          relay.relayTo(recording.program, attachment === undefined)
          const decoder = decodeAny({ ...(format && { format }), recycle: true, through })
          decoder.on('events', (n: number) => (events += n))
          return [recording.source, decoder]
        },
      },
      to,
      encode: {
        // heaptrack_print and heaptrack_gui read interpreted files.
        ...(to.name === 'heaptrack' && !RAW.test(output) && { interpreted: true }),
        // The program waits when its events cannot be written as fast as they come.
        ...(to.name === 'compact' && { fast: !isBest }),
      },
      runsProgram: true,
    })
    if (recording?.hasForked === true)
      say('hf-record', 'warning: only the program itself was recorded, not the processes that it forked')
    if (events === 0) say('hf-record', NO_EVENTS)
    else if (to.name === 'compact' && !isBest && output !== '-')
      say('hf-record', `note: ${output} was written fast; hf-convert makes a smaller file of it`)
  } finally {
    // A process that runs on is no longer recorded when no one reads the events.
    await (attachment === undefined ? recording?.close() : recording?.end())
    relay?.close()
    const status = (await recording?.ended())?.status ?? 0
    // It stays, whatever else fails.
    if (status !== 0) process.exitCode = attachment === undefined ? status : 1
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Whether the output has the format of heapflow's own recorder. @throws UsageError */
function isOwnFormat(args: Arguments, output: string): boolean {
  const to = args.value('to')
  const name = output.replace(COMPRESSED, '')
  const isNamed = OWN.test(name)
  if (to === undefined ? !isNamed || args.has('arrow') : to !== 'recorder') return false
  const what = to === undefined ? `-o ${output}` : '--to recorder'
  const other = args.value('with')
  if (args.has('arrow')) throw new UsageError('--to and --arrow cannot be combined')
  if (other !== undefined && other !== 'recorder')
    throw new UsageError(`${what} is the format of --with recorder, and not of ${other}`)
  if (args.has('stack')) throw new UsageError(`--stack and ${what} exclude each other: ${NAMES_LATER}`)
  if (name !== output)
    throw new UsageError(`${output}: the recorder writes the output itself, in its own format: name it ${name}`)
  return true
}

/** The recording of a running process, if that is requested. @throws UsageError */
function attachmentOf(args: Arguments): Attachment | undefined {
  const pid = numberOf(args, 'pid', 1)
  if (pid === undefined) return undefined
  if (args.operands.length > 0) throw new UsageError('--pid records a process that runs already: name no command')
  if (args.has('stack')) throw new UsageError(`--pid and --stack exclude each other: ${NAMES_LATER}`)
  const name = args.value('with') ?? 'recorder'
  if (name !== 'recorder') throw new UsageError(`--pid needs --with recorder, not ${name}`)
  return new Attachment(choose(name, false).recorder, pid, (line) =>
    line === undefined
      ? say('hf-record', `process ${pid} is recorded; Ctrl-C ends the recording`)
      : process.stderr.write(`${line}\n`),
  )
}

/** What does nothing where something else starts the program. */
const WITHOUT_PRELOAD = ['pid', 'stack', 'no-children', 'to', 'arrow', 'gzip', 'zstd', 'strict'] as const

/** Shows how to record a program by hand. @throws UsageError */
function printPreload(args: Arguments): void {
  const output = args.value('output') ?? ''
  if (!OWN.test(output)) throw new UsageError('--print-preload needs -o FILE.hfrec, the file to write')
  const foreign = WITHOUT_PRELOAD.find((name) => args.has(name))
  if (foreign !== undefined) throw new UsageError(`--print-preload and --${foreign} exclude each other`)
  const name = args.value('with') ?? 'recorder'
  if (name !== 'recorder') throw new UsageError(`--print-preload needs --with recorder, not ${name}`)
  const { recorder } = choose(name, false)
  const [command] = args.operands
  if (command !== undefined) refuseObstacle(recorder, command, { env: process.env })
  writeFileSync(1, preloadText(output, args.operands, settingsOf(args, recorder, true)))
}

/** @throws UsageError with advice on what to install */
function choose(name: string | undefined, stacks: boolean): Recorders.Choice {
  try {
    return Recorders.chooseRecorder(name, stacks)
  } catch (error) {
    if (!(error instanceof Recorders.RecorderError)) throw error
    throw new UsageError(error.message)
  }
}

const NO_EVENTS = 'warning: no events were recorded: the program allocated nothing, or has an allocator of its own'

/** Writes the file of heapflow's own recorder. */
async function recordDirectly(
  recorder: Recorders.Recorder,
  words: readonly string[],
  output: string,
  settings: Recorders.Settings,
  attachment: Attachment | undefined,
): Promise<void> {
  if (attachment === undefined) refuseObstacle(recorder, words[0], { env: process.env })
  const { signal, events } = await recordToFile(recorder, words, output, recordingFolder(), settings, attachment)
  if (signal !== undefined) say('hf-record', `warning: recorder: the program was ended by ${signal}`)
  if (events === 0) say('hf-record', NO_EVENTS)
}

/** The options of heapflow's own recorder. */
const OWN_OPTIONS = ['stack-depth', 'no-stacks', 'free-stacks', 'no-children', 'drop'] as const

/**
 * @param compresses whether the recorder compresses what it writes
 * @throws UsageError for settings that the recorder does not have
 */
function settingsOf(args: Arguments, { name, outlives }: Recorders.Recorder, compresses: boolean): Recorders.Settings {
  const given = numberOf(args, 'stack-depth', 0, MAX_STACK_DEPTH)
  if (outlives !== true) refuseWithout(args, OWN_OPTIONS, `--with recorder: ${name} has no such setting`)
  const hasNone = args.has('no-stacks')
  const freeStacks = args.has('free-stacks')
  if (hasNone && (given !== undefined || freeStacks))
    throw new UsageError(`--no-stacks and --${freeStacks ? 'free-stacks' : 'stack-depth'} exclude each other`)
  return {
    depth: hasNone ? 0 : (given ?? Recorders.SETTINGS.depth),
    drops: args.has('drop'),
    children: !args.has('no-children'),
    freeStacks,
    compresses,
  }
}
