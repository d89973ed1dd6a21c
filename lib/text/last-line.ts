import type { OptionSpec, TextDecodeOptions } from '../event/format.js'

const [OPTION, EFFECT] = ['lastLine: true', 'takes it as complete']
/** What to do, as messages say it to programs. */
export const ADVICE = `${OPTION} ${EFFECT}`
/** The reason why the trace is truncated without it. */
export const NO_LINE_FEED = `the last line does not end with a line feed; ${ADVICE}`

/** A message for people, with the flag of a command in place of the option. */
export function withFlag(message: string, flag: string): string {
  return message.replace(ADVICE, `${flag} ${EFFECT}`)
}

/** The option of every decoder of text. */
export const LAST_LINE: Readonly<Record<keyof TextDecodeOptions, OptionSpec>> = {
  lastLine: {
    help: 'take a last line without a line feed as complete; otherwise the trace is truncated there',
    default: false,
  },
}
