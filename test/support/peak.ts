import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { commandLine } from './commands.js'

/**
 * The limit that the project sets itself, on Node 20: peak resident memory of any command. Newer versions of Node start
 * with a larger young generation, and take more whatever they run.
 */
export const LIMIT = process.versions.node.startsWith('20.') ? 130_000_000 : 200_000_000

/**
 * Runs a command on a file, or without input, throws away what it writes, and gives its peak resident memory in bytes.
 */
export async function peak(line: string, input?: string): Promise<number> {
  // The command says at its end what it used at most.
  const report =
    'data:text/javascript,process.on("exit",()=>process.stderr.write("peak="+process.resourceUsage().maxRSS*1024))'
  const child = spawn('bash', ['-c', `${commandLine(line)} > /dev/null`], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: `--import=${JSON.stringify(report)}` },
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  if (input === undefined) child.stdin.end()
  else createReadStream(input).pipe(child.stdin)
  await once(child, 'close')
  return Number(/peak=(\d+)/.exec(said)?.[1] ?? NaN)
}
