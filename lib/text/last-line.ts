import type { OptionSpec, TextDecodeOptions } from '../event/format.js'

/** What to do, as messages say it to programs. */
export const ADVICE = 'lastLine: true takes it as complete'
/** The reason why the trace is truncated without it. */
export const NO_LINE_FEED = `the last line does not end with a line feed; ${ADVICE}`

/** The option of every decoder of text. */
export const LAST_LINE: Readonly<Record<keyof TextDecodeOptions, OptionSpec>> = {
  lastLine: {
    help: 'take a last line without a line feed as complete; otherwise the trace is truncated there',
    default: false,
  },
}
