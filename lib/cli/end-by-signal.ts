import { abandonOutputs } from '../streams/io/output-file.js'
import { Interrupted } from './command.js'
import { nameIncomplete, noteIncomplete } from './incomplete.js'

/** Ends the process by a signal that it no longer handles, when the files that are not complete are named. */
export function endBySignal(command: string, signal: NodeJS.Signals): void {
  noteIncomplete(abandonOutputs())
  nameIncomplete(command, new Interrupted(signal))
  process.kill(process.pid, signal)
}
