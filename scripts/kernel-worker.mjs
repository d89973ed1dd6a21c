// A thread of scripts/kernels.mjs: compiles the kernels whose names it gets, one after the other.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { compileKernel } from './compile-kernel.mjs'

const { target, isChecked } = workerData
parentPort.on('message', async (kernel) => {
  writeFileSync(join(target, `${kernel}.wasm`), await compileKernel(kernel, isChecked))
  parentPort.postMessage(kernel)
})
