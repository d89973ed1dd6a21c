// Peak memory of the commands: the maximum resident set size.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandLine, quote, toNothing } from './commands.mjs'

/** GNU time; other implementations do not have -f. */
const TIME = '/usr/bin/time'

/** @typedef {{ command: string, peaks: { events: number, kibibytes: number[] }[] }} Memory */

/** Why memory cannot be measured here; undefined if it can. */
export function memoryObstacle() {
  try {
    execFileSync(TIME, ['-f', '%M', 'true'], { stdio: 'ignore' })
    return undefined
  } catch {
    return `${TIME} is missing or does not know -f`
  }
}

/**
 * Runs each command on each trace.
 * @param {readonly import('./inputs.mjs').Large[]} traces
 * @param {number} rounds
 * @param {string} folder for what the commands write and the measured values
 * @returns {Memory[]}
 */
export function measureMemory(traces, rounds, folder) {
  const result = join(folder, 'peak')
  const timed = (line) => `${TIME} -f %M -o ${quote(result)} ${line}`
  return COMMANDS.map(([command, line]) => ({
    command,
    peaks: traces.map(({ events, files }) => ({
      events,
      kibibytes: Array.from({ length: rounds }, () => {
        toNothing(line(timed, Object.fromEntries(Object.entries(files).map(([form, path]) => [form, quote(path)])), folder))
        return Number(readFileSync(result, 'utf8').trim().split('\n').at(-1))
      }),
    })),
  }))
}

/** The only command that writes several streams. */
const split = (timed, files, folder) => fed('hf-split', `--by thread -o ${quote(join(folder, 'part-{}.hatf'))}`)(timed, files)

/** After mtrc-decode, which writes NDJSON for them. */
const fed = (name, args) => (timed, files) => `${commandLine('mtrc-decode', files.mtrc)} | ${timed(commandLine(name, args))}`
const reading = (name, form, args = '') => (timed, files) => timed(commandLine(name, `${args} ${files[form]}`.trim()))

/**
 * Each command with what makes the shell line that measures it.
 * @type {[string, (timed: (line: string) => string, files: Record<string, string>, folder: string) => string][]}
 */
const COMMANDS = [
  ['mtrc-decode', reading('mtrc-decode', 'mtrc')],
  ['mtrc-decode --no-resolve', reading('mtrc-decode', 'mtrc', '--no-resolve')],
  ['mtrc-decode, of gzip', reading('mtrc-decode', 'gzip')],
  ['mtrc-encode', fed('mtrc-encode')],
  ['replay-decode', reading('replay-decode', 'replay')],
  ['replay-encode', fed('replay-encode')],
  ['hatf-decode', reading('hatf-decode', 'hatf')],
  ['hatf-encode', fed('hatf-encode')],
  ['hatf-encode --attributes', fed('hatf-encode', '--attributes')],
  ['hf-filter --thread 3', fed('hf-filter', '--thread 3')],
  ['hf-filter --thread 3 --lifetimes', fed('hf-filter', '--thread 3 --lifetimes')],
  ['hf-map --rebase 0=4096', fed('hf-map', '--rebase 0=4096')],
  ['hf-split --by thread', split],
  ['hf-profile --to pprof', reading('hf-profile', 'mtrc', '--to pprof')],
  ['hf-report', reading('hf-report', 'mtrc')],
  ['hf-convert to HATF', (timed, files) => timed(commandLine('hf-convert', `${files.mtrc} - --to hatf`))],
]
