import { compileDtd, type Language } from '../../metatf/compile/index.js'
import { NoDtdError, openDtd } from '../../streams/dtd-files.js'
import { isSameFile, writeText } from '../../streams/stdio.js'
import { UsageError, type Arguments } from '../command.js'

/** Runs `metatf-compile`. @throws UsageError, and DtdError where the definition is at fault */
export async function runCompile(args: Arguments): Promise<void> {
  const [path, ...others] = args.operands
  if (path === undefined || others.length > 0) throw new UsageError('name one file with a definition')
  const output = args.value('output') ?? '-'
  if (isSameFile(path, output)) throw new UsageError(`${output} is the input too: write to another file`)
  const language = (args.value('language') as Language | undefined) ?? (/\.[cm]?js$/.test(output) ? 'js' : 'ts')
  await writeText(output, compileDtd(open(path), { language }))
}

function open(path: string) {
  try {
    return openDtd(path, [])
  } catch (error) {
    if (error instanceof NoDtdError) throw new UsageError(error.message, { cause: error })
    throw error
  }
}
