// Compiles each kernel of kernel/*.ts to WebAssembly, in kernel/ of the folder given (dist); with --checked, to checked
// kernels in kernel-checked/, in a few threads. Those that are newer than all of their sources and the compiling
// scripts stay.
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join, parse } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { SOURCES } from './compile-kernel.mjs'

const { values, positionals } = parseArgs({ options: { checked: { type: 'boolean' } }, allowPositionals: true })
const target = join(positionals[0] ?? 'dist', values.checked ? 'kernel-checked' : 'kernel')
const scripts = [
  'kernels.mjs',
  'kernel-worker.mjs',
  'compile-kernel.mjs',
  ...(values.checked ? ['checked-kernels.mjs', '../kernel/shared/rooms.ts'] : []),
]
const kernels = readdirSync(SOURCES)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => parse(name).name)
const stale = kernels.filter((kernel) => {
  const files = [
    ...scripts.map((name) => fileURLToPath(new URL(name, import.meta.url))),
    ...sourcesOf(join(SOURCES, `${kernel}.ts`)),
  ]
  const changed = Math.max(...files.map((file) => statSync(file).mtimeMs))
  return !(statSync(join(target, `${kernel}.wasm`), { throwIfNoEntry: false })?.mtimeMs > changed)
})

/** A module, and all modules that it imports or exports from, directly or not. */
function sourcesOf(file, found = new Set()) {
  if (found.has(file)) return []
  found.add(file)
  for (const [, path] of readFileSync(file, 'utf8').matchAll(/\bfrom '(\.[^']+)'/g))
    sourcesOf(join(dirname(file), `${path}.ts`), found)
  return [...found]
}

/** The most threads: each has a compiler of its own, which takes some 300 MB. */
const MAX_THREADS = 4

mkdirSync(target, { recursive: true })
// Those with the most source take longest, so they come first.
const size = (kernel) => sourcesOf(join(SOURCES, `${kernel}.ts`)).reduce((sum, file) => sum + statSync(file).size, 0)
const sizes = new Map(stale.map((kernel) => [kernel, size(kernel)]))
const queue = stale.toSorted((a, b) => sizes.get(b) - sizes.get(a))
const threads = Math.min(MAX_THREADS, availableParallelism(), queue.length)
await Promise.all(Array.from({ length: threads }, compileNext))

/** Compiles kernels in a thread until none is left. */
function compileNext() {
  return new Promise((resolve, reject) => {
    const workerData = { target, isChecked: values.checked }
    const worker = new Worker(new URL('kernel-worker.mjs', import.meta.url), { workerData })
    const next = () => {
      const kernel = queue.shift()
      if (kernel === undefined) worker.terminate().then(resolve, reject)
      else worker.postMessage(kernel)
    }
    worker.on('message', next)
    worker.on('error', reject)
    next()
  })
}
