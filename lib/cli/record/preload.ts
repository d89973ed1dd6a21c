import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { kept, RECORDER_LIBRARY, RECORDER_READER } from '../../streams/record/compiled.js'
import { readerWords, type Settings } from '../../streams/record/recorders.js'

/** The folder of the memory file: a file system in memory, which every Linux has. */
const MEMORY = '/dev/shm/heapflow-'

/**
 * Instructions for recording a program that something else starts, by heapflow's own recorder: the reader to start
 * beside it, and its environment. Explanations begin with `#`.
 * @param output the file to write
 * @param words the program and its arguments, as far as they are known
 * @throws Error when the recorder cannot be compiled and kept
 */
export function preloadText(output: string, words: readonly string[], settings: Settings): string {
  const reader = kept(RECORDER_READER)
  const library = kept(RECORDER_LIBRARY)
  const file = resolve(output)
  const memory = `${MEMORY}${randomBytes(4).toString('hex')}`
  const command = words.length === 0 ? 'PROGRAM [ARGUMENT]...' : shellWords(words)
  return `# Start this first. It writes the recording, and ends when the recorded processes have ended, or by SIGTERM:
${shellWords([reader, ...readerWords(file, memory, settings)])}
# When the file ${memory} is there, start the program, as the same user, with this environment:
LD_PRELOAD=${library}
HEAPFLOW_RECORDER=${memory}
# Or start both with one command, which ends as the program does:
${shellWords([reader, ...readerWords(file, library, settings)])} ${command}
`
}

function shellWords(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`))
    .join(' ')
}
