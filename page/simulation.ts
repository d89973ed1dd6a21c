import type { SimulationData } from '../lib/exports/simulation/data.js'
import { embedded } from './load.js'
import { simulationShell } from './simulation/shell.js'
import { start } from './start.js'

/* The page of simulated heaps. */

void start(async (app, reveal) => {
  const data = await embedded<SimulationData>()
  if (data === undefined) return
  reveal()
  simulationShell(app, data)
})
