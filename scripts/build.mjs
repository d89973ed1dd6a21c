// Builds everything: the steps of `STEPS`, each as soon as those before it are done. Kernels, which take longest, are
// compiled while TypeScript is. Ends with the first step that fails.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const typescript = (...args) => ['node_modules/typescript/bin/tsc', ...args]
const script = (name, ...after) => ({ command: [`scripts/${name}.mjs`], after })

/** What each step runs with Node, and the steps that must be done before. */
const STEPS = {
  kernels: script('kernels'),
  modules: { command: typescript('-p', 'tsconfig.json'), after: [] },
  types: { command: typescript('-p', 'tsconfig.types.json'), after: [] },
  prune: script('prune', 'modules', 'types'),
  commands: script('commands'),
  pipes: script('pipes'),
  man: script('man', 'prune'),
  browser: script('browser', 'kernels'),
  page: script('page', 'kernels'),
  embedded: script('embedded', 'modules', 'kernels', 'page'),
  compiled: script('compiled', 'kernels', 'commands', 'page'),
}

const running = new Set()
const done = new Map()

/** Runs a step after those that it needs. */
function run(name) {
  const { command, after } = STEPS[name]
  if (!done.has(name))
    done.set(
      name,
      Promise.all(after.map(run)).then(() => finished(name, command)),
    )
  return done.get(name)
}

function finished(name, command) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, command, { cwd: root, stdio: 'inherit' })
    running.add(child)
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      running.delete(child)
      if (code === 0) resolve()
      else reject(new Error(`${name} failed: ${signal ?? code}`))
    })
  })
}

try {
  await Promise.all(Object.keys(STEPS).map(run))
} catch (error) {
  for (const child of running) child.kill()
  console.error(`build: ${error.message}`)
  process.exitCode = 1
}
