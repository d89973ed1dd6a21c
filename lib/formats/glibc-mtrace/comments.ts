import { LF } from '../../text/ascii.js'
import { FieldBit } from '../../event/fields.js'
import { newMtraceKernel, NO_LINES, type MtraceKernel } from './kernel.js'
import { MAX_LINE } from './layout.js'

/** A separate kernel, because the decoders use the memory of the other one. */
let kernel: MtraceKernel | undefined

/** Whether a text as a line of a trace is read as a comment. */
export function isComment(text: Uint8Array): boolean {
  if (text.length >= MAX_LINE || text.includes(LF)) return false
  kernel ??= newMtraceKernel()
  const { run } = kernel
  const { value: input } = run.INPUT
  const bytes = new Uint8Array(run.memory.buffer, input, text.length + 1)
  bytes.set(text)
  bytes[text.length] = LF
  run.decode(input, input + bytes.length, 1, NO_LINES, false, true)
  return run.fields.value === FieldBit.text
}
