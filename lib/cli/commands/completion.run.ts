import { didYouMean } from '../../event/suggest.js'
import { UsageError, type Arguments } from '../command.js'
import { SHELLS } from '../defaults.js'
import { bashCompletion } from '../help/completion-bash.js'
import { fishCompletion } from '../help/completion-fish.js'
import { zshCompletion } from '../help/completion-zsh.js'
import { writeText } from '../output.js'

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const

/** Runs `heapflow completion`. @throws UsageError */
export async function runCompletion(args: Arguments): Promise<void> {
  const [name = '', ...more] = args.operands
  const shell = SHELLS.find((one) => one === name)
  if (shell === undefined || more.length > 0)
    throw new UsageError(`name one shell: ${SHELLS.join(', ')}${didYouMean(name, SHELLS)}`)
  await writeText('-', SCRIPTS[shell]())
}
