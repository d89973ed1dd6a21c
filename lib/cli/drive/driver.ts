import type { Native } from '../../streams/record/compiled.js'

const HEADERS = ['format', 'file', 'memory', 'order', 'calls', 'contents', 'watch', 'run'].map(
  (name) => `replay/${name}.h`,
)

/** The program that executes operations against the allocator that is loaded into it. */
export const REPLAY_DRIVER: Native = {
  what: 'the replay driver',
  name: 'replay-driver',
  ending: '',
  sources: ['replay/driver.c', ...HEADERS],
  options: ['-std=c11', '-O2', '-pthread', '-ftls-model=local-exec'],
  libraries: ['-ldl'],
}
