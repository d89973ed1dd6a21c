import { extname } from 'node:path'
import { compileDtd, type Language } from '../../metatf/generate/module.js'
import { NoDtdError, openDtd } from '../../streams/dtd-files.js'
import { UsageError, type Arguments } from '../command.js'
import { refuseInputs, refuseSameFile, writeText } from '../output.js'

/** Runs `metatf-compile`. @throws UsageError, and DtdError for a faulty definition */
export async function runCompile(args: Arguments): Promise<void> {
  const [path, ...others] = args.operands
  if (path === undefined || others.length > 0) throw new UsageError('name one file with a definition')
  const output = args.value('output') ?? '-'
  refuseInputs(args, [path], output)
  const language = (args.value('language') as Language | undefined) ?? languageOf(output)
  const dtd = open(path)
  refuseSameFile(dtd.file, output, 'the DTD')
  await writeText(output, compileDtd(dtd, { language }))
}

/** The language of a module, by its file name. */
function languageOf(output: string): Language {
  const ending = extname(output)
  if (['.js', '.mjs'].includes(ending)) return 'js'
  if (['.ts', '.mts', ''].includes(ending)) return 'ts'
  throw new UsageError(`modules are called .ts, .mts, .js or .mjs, not ${ending}: give --language`)
}

function open(path: string) {
  try {
    return openDtd(path, [])
  } catch (error) {
    if (error instanceof NoDtdError) throw new UsageError(error.message, { cause: error })
    throw error
  }
}
