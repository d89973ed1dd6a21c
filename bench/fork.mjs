// Runs a case in a separate process.
import { fork } from 'node:child_process'
import { once } from 'node:events'

/**
 * @param {string} name a file in cases/
 * @param {string} inputName
 * @param {object} input what the case is told
 * @param {{ rounds: number, warmups: number }} plan
 * @returns {Promise<import('./case.mjs').CaseResult>}
 */
export async function runCase(name, inputName, input, plan) {
  const child = fork(new URL('case.mjs', import.meta.url), { execArgv: ['--expose-gc'] })
  let result
  child.once('message', (message) => {
    result = message
  })
  child.send({ name, input, plan })
  const [code] = await once(child, 'exit')
  if (code !== 0 || result === undefined) throw new Error(`the case ${name} failed`)
  return { name, input: inputName, ...result }
}
