import { caveats } from '../../event/caveats.js'
import { chain } from '../../event/chain.js'
import { inputName } from '../../event/error.js'
import { plural } from '../../event/message-text.js'
import type { GenerateOptions } from '../../generate/generator.js'
import type { ModelName } from '../../generate/models/names.js'
import { TraceSurvey } from '../../generate/survey.js'
import { checkModel, MOST_MODEL_BYTES, MOST_MODEL_THREADS, type TraceModel } from '../../generate/trace-model.js'
import { generate } from '../../streams/generate.js'
import { encoderStream } from '../../streams/stage.js'
import { integer, numberOf, orFlagError, UsageError, type Arguments } from '../command.js'
import { traceInput, type StreamInput } from '../input.js'
import { readJson, refuseUnused, writeModel } from '../json-model.js'
import { outputFormat } from '../output-format.js'
import { outputOf } from '../output.js'
import { runJob, runTrace, sink } from '../pipeline.js'
import { say } from '../say.js'
import { generate as command } from './generate.js'

const SOURCES = ['model', 'like', 'from-model'] as const
/** The flags that have an effect on a model. */
const OF_MODEL = ['like', 'write-model']

/** Runs `hf-generate`. @throws UsageError */
export async function runGenerate(args: Arguments): Promise<void> {
  if (args.operands.length > 0) throw new UsageError(`no operand is expected, such as ${args.operands[0]}`)
  const given = SOURCES.filter((name) => args.has(name))
  if (given.length !== 1) throw new UsageError('one of --model, --like and --from-model is needed')
  const modelFile = args.value('write-model')
  if (modelFile !== undefined) return writeLike(args, modelFile)
  if (args.has('threads') && !args.has('model')) throw new UsageError('--threads needs --model: a trace has its own')
  const options = optionsOf(args)
  const to = await outputFormat(args)
  const file = args.value('like') ?? args.value('from-model')
  const what = await source(args)
  if (what.like?.rows.kind.length === 0)
    say('hf-generate', 'warning: the trace allocated nothing, so nothing is generated')
  const input: StreamInput = {
    paths: file === undefined || file === '-' ? [] : [file],
    open: (through) => [
      orFlagError(options, () => generate({ ...options, ...what }), 'generate()') as never,
      encoderStream(through, { recycle: true }),
    ],
  }
  await runJob({ command: 'hf-generate', args, input, to })
}

async function writeLike(args: Arguments, target: string): Promise<void> {
  const path = args.value('like')
  if (path === undefined) throw new UsageError('--write-model needs --like')
  refuseUnused(args, command.flags, OF_MODEL)
  const output = outputOf(args, [path], false, target)
  await writeModel(output, await modelOf(path), MOST_MODEL_BYTES)
}

function optionsOf(args: Arguments): GenerateOptions {
  const events = args.value('events')
  const scale = args.value('scale')
  const seed = args.value('seed')
  if (scale !== undefined && !/^\d{1,9}(\.\d{1,9})?$/.test(scale))
    throw new UsageError(`--scale needs a number, not ${JSON.stringify(scale)}`)
  const threads = numberOf(args, 'threads')
  return {
    ...(events !== undefined && { events: eventCount(events) }),
    ...(scale !== undefined && { scale: Number(scale) }),
    ...(seed !== undefined && { seed: Number(integer('seed', seed)) }),
    ...(threads !== undefined && { threads }),
    times: args.has('times'),
  }
}

/** A number of events, of which K is 1,000. @throws UsageError */
function eventCount(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,12})([kmg]?)$/i.exec(text) ?? []
  if (digits === undefined)
    throw new UsageError(`--events needs a number, which may end in K, M or G, not ${JSON.stringify(text)}`)
  return Number(digits) * 1000 ** ['', 'k', 'm', 'g'].indexOf(unit.toLowerCase())
}

async function source(args: Arguments): Promise<Pick<GenerateOptions, 'model' | 'like'>> {
  const like = args.value('like')
  const file = args.value('from-model')
  if (like !== undefined) return { like: await modelOf(like) }
  if (file !== undefined) return { like: await readJson(file, MOST_MODEL_BYTES, checkModel) }
  return { model: args.value('model') as ModelName }
}

async function modelOf(path: string): Promise<TraceModel> {
  const survey = new TraceSurvey()
  const through = chain(
    caveats(),
    sink((batch) => survey.add(batch)),
  )
  await runTrace({ command: 'hf-generate', input: traceInput(path), through })
  for (const change of changesOf(survey)) say('hf-generate', `warning: ${inputName(path)}: ${change}`)
  return survey.finish()
}

/** Warnings about properties of the trace that a model does not represent exactly. */
function changesOf({ limitedSizes, lostAlignments, hasFurtherThreads }: TraceSurvey): string[] {
  const changes: string[] = []
  const have = (count: number) => (count === 1 ? 'has' : 'have')
  if (limitedSizes > 0) {
    const blocks = plural(limitedSizes, 'block')
    changes.push(`${blocks} of 2^46 bytes or more ${have(limitedSizes)} fewer in the model`)
  }
  if (lostAlignments > 0) {
    const blocks = plural(lostAlignments, 'block')
    changes.push(`${blocks} ${have(lostAlignments)} no alignment in the model: above 2^30, or no power of two`)
  }
  if (hasFurtherThreads)
    changes.push(`a model has at most ${MOST_MODEL_THREADS} threads: the last one is for all further ones`)
  return changes
}
