// HATF 1.0: what it has a place for, and with attributes for all else.
import { readFileSync } from 'node:fs'
import { hatf } from '../../dist/lib/index.js'
import { codecTasks } from './codec.mjs'

/** @param {import('../inputs.mjs').Input} input */
export function tasks({ files }) {
  const named = (task) => ({ ...task, name: `${task.name}, with attributes` })
  return [
    ...codecTasks(hatf.format, readFileSync(files.hatf)),
    ...codecTasks(hatf.format, readFileSync(files.attributes), { attributes: true }).map(named),
  ]
}
