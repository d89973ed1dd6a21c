import type { Command } from './command.js'
import { limitReached } from './limits.js'
import { say } from './say.js'

/** The function by which scripts/load-chunk.cjs has Node end: now and then it would not. */
const AWAIT_COMPILERS = Symbol.for('heapflow.awaitCompilers')

/**
 * Loads a command and runs it. It imports modules dynamically, so that a limit on open files is an ordinary message.
 * @param load loads the command
 */
export async function start(name: string, load: () => Promise<Command>): Promise<void> {
  let ready
  try {
    ready = await Promise.all([import('./main.js'), load()])
  } catch (error) {
    const reason = limitReached(error)
    if (reason === undefined) throw error
    say(name, reason)
    process.exitCode = 1
    return
  }
  const [{ main }, command] = ready
  await main(command)
  ;(globalThis as { [AWAIT_COMPILERS]?: () => void })[AWAIT_COMPILERS]?.()
}
