import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it, vi } from 'vitest'
import type { ValgrindExports } from '../../lib/formats/valgrind/kernel.js'
import { exportGlobals, globalName } from './wasm-globals.js'

declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { readonly exports: object }
}
const { Module, Instance } = WebAssembly

const LOG = Buffer.from('--7-- malloc(24) = 0x4A2A040\n--7-- malloc(8)\n')

afterAll(() => Object.assign(WebAssembly, { Module, Instance }))

/** Loads kernels from pools, also those that other tests loaded before. */
async function pooled() {
  vi.resetModules()
  const { releaseKernels, reuseKernels } = await import('./kernels.js')
  reuseKernels()
  const { loadKernel } = await import('../../lib/kernel/load.js')
  return { releaseKernels, loadKernel }
}

/** All that a kernel knows: its memory and its variables, as text. */
function stateOf(run: object, count: number): string {
  const exports = run as ValgrindExports & Record<string, { value: number | bigint }>
  const variables = Array.from({ length: count }, (_, i) => String(exports[globalName(i)]?.value))
  return `${variables.join()} ${Buffer.from(exports.memory.buffer).toString('base64')}`
}

describe('kernels that are used again', () => {
  it('are as new ones', async () => {
    const file = new URL('../../dist/kernel/valgrind.wasm', import.meta.url)
    const { bytes, count } = exportGlobals(new Uint8Array(readFileSync(file)))
    const fresh = stateOf(new Instance(new Module(bytes), { env: { abort: () => {} } }).exports, count)
    expect(count).toBeGreaterThan(5)

    const { releaseKernels, loadKernel } = await pooled()
    const run = loadKernel<ValgrindExports>('valgrind')
    const second = loadKernel<ValgrindExports>('valgrind')
    expect(second).not.toBe(run)
    run.begin()
    run.setSeed(77n)
    const at = run.INPUT?.value ?? 0
    new Uint8Array(run.memory.buffer).set(LOG, at)
    expect(run.decode(at, at + LOG.length, 4096)).toBe(1)
    expect(stateOf(run, count)).not.toBe(fresh)
    releaseKernels()
    const again = [loadKernel<ValgrindExports>('valgrind'), loadKernel<ValgrindExports>('valgrind')]
    expect(again).toContain(run)
    expect(again).toContain(second)
    expect(stateOf(run, count) === fresh).toBe(true)
  })
})
