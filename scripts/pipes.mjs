// Compiles the module that enlarges pipes, for this machine, in dist/native, where there is a C compiler. Without it
// everything works, and pipes keep the capacity that the system gives them. The package has it from scripts/native.mjs;
// a file that is newer than its source is left as it is.
import { spawnSync } from 'node:child_process'
import { mkdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Its sources, options and names, as those of the recorder. */
export const PIPES = {
  what: 'the module that enlarges pipes',
  sources: ['pipes/pipes.c'],
  options: ['-shared', '-fPIC', '-O2', '-nostdlib'],
}
/** @param machine as in `process.arch` */
export const pipesFile = (machine) => `pipes-${machine}.node`

if (process.argv[1] === fileURLToPath(import.meta.url) && process.platform === 'linux') {
  const root = new URL('../', import.meta.url)
  mkdirSync(new URL('dist/native/', root), { recursive: true })
  const target = fileURLToPath(new URL(`dist/native/${pipesFile(process.arch)}`, root))
  const source = fileURLToPath(new URL(`native/${PIPES.sources[0]}`, root))
  const made = statSync(target, { throwIfNoEntry: false })
  if (made === undefined || made.mtimeMs < statSync(source).mtimeMs) {
    const [compiler, ...options] = (process.env['CC'] || 'cc').split(' ')
    spawnSync(compiler, [...options, ...PIPES.options, '-s', '-o', target, source], { stdio: 'ignore' })
  }
}
