import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/**
 * A folder in which the package is installed, and is tested instead of what is built here; undefined if there is none.
 */
export const PROJECT = process.env['HEAPFLOW_PROJECT']

const BIN =
  PROJECT === undefined
    ? fileURLToPath(new URL('../../dist/bin/', import.meta.url))
    : join(PROJECT, 'node_modules/heapflow/dist/bin/')
if (!existsSync(BIN)) throw new Error('the commands are tested as they are built: run npm run build first')

/** What a process did. */
export interface Finished {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: Buffer
  stderr: string
}

/** The names of all commands, the longest first. */
const NAMES = readdirSync(BIN)
  .filter((name) => name.endsWith('.js'))
  .map((name) => name.slice(0, -'.js'.length))
  .toSorted((a, b) => b.length - a.length)
const COMMAND = new RegExp(`(^|[|;(&\\s])(${NAMES.join('|')})(?=\\s|$)`, 'g')

/** A command line for a shell, with the names of commands standing for `node dist/bin/<name>.js`. */
export function commandLine(line: string): string {
  return line.replace(COMMAND, (_, before: string, name: string) => `${before}"${process.execPath}" "${BIN}${name}.js"`)
}

/** Runs a command line in bash, with its standard input given or empty. */
export function shell(line: string, input: Uint8Array | string = ''): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', commandLine(line)], { stdio: 'pipe' })
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.on('error', reject)
    child.on('close', (code, signal) =>
      resolve({ code, signal, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString() }),
    )
    // The command may end before it has read everything.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

/** A folder that is removed at the end of the test. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'heapflow-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

/**
 * Sends SIGINT to a command that reads a pipe, which leaves the first one to the writers of the pipe, and once more.
 */
export async function interruptTwice(child: ChildProcess): Promise<void> {
  child.kill('SIGINT')
  await sleep(300)
  child.kill('SIGINT')
}
