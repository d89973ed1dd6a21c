import { gzipSync } from 'node:zlib'
import type { SimulationData } from '../exports/simulation/data.js'
import { simulationPage } from '../exports/simulation/page.js'
import { readPage } from './read-page.js'

/** Simulated heaps as a page of HTML, which needs no other file and no network, in pieces. */
export function simulationPieces(data: SimulationData): Uint8Array[] {
  return simulationPage(data, { template: readPage('simulation'), gzip: (bytes) => gzipSync(bytes, { level: 9 }) })
}
