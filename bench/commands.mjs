// The project's commands as parts of shell command lines.
import { execFileSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { fileURLToPath } from 'node:url'

/** The path of the running Node. */
export const node = process.execPath

/**
 * A command of this project as a shell runs it.
 * @param {string} name
 * @param {string} [args] quoted where need be
 */
export function commandLine(name, args = '') {
  return `${quote(node)} ${quote(fileURLToPath(new URL(`../dist/bin/${name}.js`, import.meta.url)))} ${args}`.trimEnd()
}

/** @param {string} text */
export function quote(text) {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/**
 * Runs a shell command line and ignores its output. The shell returns only the status of the last command of a
 * pipeline, but a command that fails leaves its stream without an end record, which the next one reports as an error.
 * @param {string} line
 * @returns {number} nothing that could be counted: 0
 * @throws Error with what the commands wrote to standard error
 */
export function toNothing(line) {
  const sink = openSync(devNull, 'w')
  try {
    execFileSync('sh', ['-c', line], { stdio: ['ignore', sink, 'pipe'] })
    return 0
  } finally {
    closeSync(sink)
  }
}
