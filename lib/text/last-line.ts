import type { OptionSpec, TextDecodeOptions } from '../event/format.js'

const [OPTION, ADVICE] = ['lastLine: true', 'takes it as complete']
/** The reason why the trace is truncated, and what to do, as messages say it to programs. */
export const NO_LINE_FEED = `the last line does not end with a line feed; ${OPTION} ${ADVICE}`

/** A message for people, with the flag of a command in place of the option. */
export function withFlag(message: string, flag: string): string {
  return message.replace(`${OPTION} ${ADVICE}`, `${flag} ${ADVICE}`)
}

/** The option of every decoder of text. */
export const LAST_LINE: Readonly<Record<keyof TextDecodeOptions, OptionSpec>> = {
  lastLine: {
    help: 'take a last line without a line feed as complete; otherwise the trace is truncated there',
    default: false,
  },
}
