import type { OptionSpec, TextDecodeOptions } from '../event/format.js'

/** The option of every decoder of text. */
export const LAST_LINE: Readonly<Record<keyof TextDecodeOptions, OptionSpec>> = {
  lastLine: {
    help: 'take a last line without a line feed as complete; otherwise the trace is truncated there',
    default: false,
  },
}
