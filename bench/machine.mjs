// Describes the machine of the benchmarks.
import { execFileSync } from 'node:child_process'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { defaultInflater } from '../dist/lib/entry/stages.js'

/**
 * @typedef {object} Machine
 * @property {string} cpu
 * @property {number} cores how many can be used
 * @property {number} memoryGiB
 * @property {string} system
 * @property {string} node
 * @property {string} inflater what inflates gzip
 * @property {string} commit the revision of this project, with `+` where files differ from it; empty where that is not
 * known
 * @property {string} date
 * @property {number} load runnable processes, the mean of the last minute before the start
 */

/** @returns {Machine} */
export function describeMachine() {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${process.arch}`,
    node: process.version,
    inflater: `${defaultInflater()} (node:zlib ${process.versions.zlib})`,
    commit: revision(),
    date: new Date().toISOString().slice(0, 10),
    load: Math.round(loadavg()[0] * 100) / 100,
  }
}

/**
 * A short name for file names: the processor without marks and clock rates, and the number of cores.
 * @param {Machine} machine
 */
export function shortName({ cpu, cores }) {
  const words = cpu.toLowerCase().replace(/\((r|tm)\)|@.*|\b(cpu|processor)\b|\d+-core/g, ' ').match(/[a-z0-9]+/g) ?? ['unknown']
  return [...words, `${cores}-cores`].join('-')
}

function revision() {
  /** @type {import('node:child_process').ExecFileSyncOptionsWithStringEncoding} */
  const options = { cwd: import.meta.dirname, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }
  const git = (...args) => execFileSync('git', args, options).trim()
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--', '../lib', '../bin') === '' ? '' : '+')
  } catch {
    return ''
  }
}
