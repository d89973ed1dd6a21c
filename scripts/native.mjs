/**
 * Compiles heapflow's own recorder, the driver of hf-replay, and the module that enlarges pipes, for the package:
 * `node scripts/native.mjs`, after a build. The files run with glibc 2.17 and newer. It takes zig's C compiler, which
 * PyPI has as `ziglang`, in Python: that of `HEAPFLOW_PYTHON`, or `python3`. Everything is compiled twice, and must
 * have the same bytes both times.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { REPLAY_DRIVER } from '../dist/lib/cli/drive/runs.js'
import { fileName, RECORDER_LIBRARY, RECORDER_MACHINES, RECORDER_READER } from '../dist/lib/streams/record/compiled.js'
import { PIPES, pipesFile } from './pipes.mjs'

/** The bytes of a file depend on it. */
const ZIG = '0.17.1'
/** The targets, by the names that Node has for machines. */
const TARGETS = { x64: 'x86_64-linux-gnu.2.17', arm64: 'aarch64-linux-gnu.2.17' }
/** What is compiled, for which machines, and the names of the files unless they depend on the sources. */
const COMPILED = [
  [RECORDER_LIBRARY, RECORDER_MACHINES],
  [RECORDER_READER, RECORDER_MACHINES],
  [REPLAY_DRIVER, ['x64', 'arm64']],
  [PIPES, ['x64', 'arm64'], pipesFile],
]
/** Further options. `--pid` maps the library with one part of data, and calls no functions that a compiler adds. */
const OPTIONS = ['-s', '-fno-builtin', '-Wall', '-Wextra', '-Werror', '-Wl,-z,norelro', '-Wl,--build-id=none']

const root = fileURLToPath(new URL('../', import.meta.url))
const target = join(root, 'dist/native')
const python = process.env['HEAPFLOW_PYTHON'] ?? 'python3'
const zig = (...words) =>
  execFileSync(python, ['-m', 'ziglang', ...words], { cwd: join(root, 'native'), encoding: 'utf8', stdio: 'pipe' })

/** The bytes of a file that is compiled from scratch. */
function compile({ options, sources, libraries = [] }, machine, folder) {
  const file = join(folder, 'made')
  process.env['ZIG_LOCAL_CACHE_DIR'] = join(folder, 'cache')
  zig('cc', '-target', TARGETS[machine], ...options, ...OPTIONS, '-o', file, sources[0], ...libraries)
  return file
}

const folders = [0, 1].map((i) => mkdtempSync(join(tmpdir(), `heapflow-native-${i}-`)))
try {
  const version = zig('version').trim()
  if (version !== ZIG) throw new Error(`zig ${ZIG} is needed (pip install ziglang==${ZIG}), and not ${version}`)
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  for (const [native, machines, nameOf = (machine) => fileName(native, machine)] of COMPILED)
    for (const machine of machines) {
      const [first, second] = folders.map((folder) => compile(native, machine, folder))
      if (!readFileSync(first).equals(readFileSync(second))) throw new Error(`${native.what} differs each time`)
      const path = join(target, nameOf(machine))
      copyFileSync(first, path)
      chmodSync(path, 0o755)
      console.log(`${path}: ${statSync(path).size} bytes`)
    }
} catch (error) {
  console.error(`native: ${error.stderr || error.message}`)
  process.exitCode = 1
} finally {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
}
