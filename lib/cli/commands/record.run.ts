import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { truncated } from '../../event/error.js'
import { formatNamed } from '../../formats/index.js'
import { decodeAny } from '../../streams/decode.js'
import { sourceStream } from '../../streams/io/open-trace.js'
import { UsageError, type Arguments } from '../command.js'
import { outputFormat } from '../output-format.js'
import { runJob } from '../pipeline.js'
import { Program, type Ending } from '../record/program.js'
import { chooseRecorder, type Launch, type Recorder } from '../record/recorders.js'
import { TracePipe } from '../record/trace-pipe.js'

/** So much of the end of a trace is kept, to see how it ends. */
const TAIL_BYTES = 4096

/** Runs `hf-record`. @throws UsageError */
export async function runRecord(args: Arguments): Promise<void> {
  const words = args.operands
  if (words.length === 0) throw new UsageError('name the program to record: hf-record -- COMMAND')
  const recorder = chooseRecorder(args.value('with'), args.has('stack'))
  const output = args.value('output') ?? '-'
  const to = await outputFormat(args, output)
  const format = await formatNamed(recorder.format)?.load()
  const folder = mkdtempSync(join(tmpdir(), 'heapflow-record-'))
  const path = join(folder, 'trace')
  let recording: Recording | undefined
  try {
    const launch = recorder.launch(words, path, folder)
    const filter = args.has('stack') ? recorder.stackNames?.() : undefined
    await runJob({
      command: 'hf-record',
      args,
      input: {
        paths: [],
        recycle: true,
        // By then the output is known to be writable, so the program does not run in vain.
        open: (through) => {
          recording = record(recorder, launch, new TracePipe(path, filter), output === '-' ? 2 : 1)
          return [recording.source, decodeAny({ ...(format && { format }), recycle: true, through })]
        },
      },
      to,
      runsProgram: true,
    })
    recording?.pipe.close()
  } catch (error) {
    await recording?.pipe.discard()
    throw error
  } finally {
    const status = (await recording?.status()) ?? 0
    // It stays, whatever else fails.
    if (status !== 0) process.exitCode = status
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A program that is being recorded. */
interface Recording {
  readonly pipe: TracePipe
  /** The bytes of its trace. */
  readonly source: Readable
  /** Its exit status, when it has ended. */
  status(): Promise<number>
}

/** @param output the descriptor that becomes the program's standard output */
function record(recorder: Recorder, { words, env, isTracer }: Launch, pipe: TracePipe, output: number): Recording {
  const program = new Program(words, env, output, isTracer)
  void program.ended.then(() => pipe.programEnded())
  let known: Ending | undefined
  const bytes = () => traceBytes(pipe, program, recorder, (ending) => (known = ending))
  return {
    pipe,
    source: sourceStream(bytes, () => void pipe.source.destroy()),
    status: async () => (known ?? (await program.ended)).status,
  }
}

/**
 * The bytes of the trace, until the program has ended.
 * @param onEnd called with its exit status or signal
 * @throws TraceError after the bytes of a trace that is not whole; Error if there is no trace
 */
async function* traceBytes(
  pipe: TracePipe,
  program: Program,
  recorder: Recorder,
  onEnd: (ending: Ending) => void,
): AsyncGenerator<Uint8Array> {
  let offset = 0
  let last: Buffer = Buffer.alloc(0)
  for await (const chunk of pipe.source as AsyncIterable<Buffer>) {
    offset += chunk.length
    last = Buffer.concat([last, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES)
    yield chunk
  }
  const tail = last.toString('latin1')
  const own = await program.ended
  const ending = recorder.ending?.(tail) ?? own
  onEnd(ending)
  if (ending.error !== undefined) throw ending.error
  const fault = await pipe.fault
  if (offset === 0 && fault === undefined)
    throw new Error(
      `nothing was recorded: the program may be linked statically, or run as another user, which ${recorder.name} ` +
        'cannot record',
    )
  const at = { format: recorder.format, offset }
  if (ending.signal !== undefined) throw truncated(`the program was ended by ${ending.signal}`, at)
  if (fault !== undefined) throw truncated(fault, at)
  if (recorder.isWhole?.(tail) === false)
    throw truncated('the program left without running its exit handlers, or became another one', at)
}
