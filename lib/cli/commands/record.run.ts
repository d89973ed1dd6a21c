import { rmSync } from 'node:fs'
import { formatNamed } from '../../formats/index.js'
import { decodeAny } from '../../streams/decode.js'
import { UsageError, type Arguments } from '../command.js'
import { outputFormat } from '../output-format.js'
import { runJob } from '../pipeline.js'
import { obstacleTo } from '../record/executable.js'
import { recordingFolder } from '../record/folder.js'
import { chooseRecorder, type Recorder } from '../record/recorders.js'
import { Recording } from '../record/recording.js'
import { say } from '../say.js'

/** Names of raw files of heaptrack. */
const RAW = /\.raw(?:\.\w+)?$/

/** Runs `hf-record`. @throws UsageError */
export async function runRecord(args: Arguments): Promise<void> {
  const words = args.operands
  const [command] = words
  if (command === undefined) throw new UsageError('name the program to record: hf-record -- COMMAND')
  const stacks = args.has('stack')
  const recorder = chooseRecorder(args.value('with'), stacks)
  const output = args.value('output') ?? '-'
  const to = await outputFormat(args, output)
  const format = await formatNamed(recorder.format)?.load()
  refuseObstacle(recorder, command)
  const folder = recordingFolder()
  let recording: Recording | undefined
  let events = 0
  try {
    await runJob({
      command: 'hf-record',
      args,
      input: {
        paths: [],
        // By then the output is known to be writable, so the program does not run in vain.
        open: (through) => {
          recording = new Recording({ recorder, words, stacks, folder, output: output === '-' ? 2 : 1 })
          const decoder = decodeAny({ ...(format && { format }), recycle: true, through })
          decoder.on('events', (n: number) => (events += n))
          return [recording.source, decoder]
        },
      },
      to,
      // heaptrack_print and heaptrack_gui read interpreted files.
      ...(to.name === 'heaptrack' && !RAW.test(output) && { encode: { interpreted: true } }),
      runsProgram: true,
    })
    if (recording?.hasForked === true)
      say('hf-record', 'warning: only the program itself was recorded, not the processes that it forked')
    if (events === 0) say('hf-record', 'warning: no events were recorded')
  } finally {
    await recording?.close()
    const status = (await recording?.status()) ?? 0
    // It stays, whatever else fails.
    if (status !== 0) process.exitCode = status
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @throws Error for a program that cannot be recorded, before it runs in vain */
function refuseObstacle({ records, name }: Recorder, command: string): void {
  const obstacle = records === 'kernel' ? undefined : obstacleTo(command, records === 'loaded')
  if (obstacle === undefined) return
  const instead = obstacleTo(command, false) === undefined ? ': see whether --with valgrind can' : ''
  throw new Error(`${obstacle}, so ${name} cannot record it${instead}`)
}
