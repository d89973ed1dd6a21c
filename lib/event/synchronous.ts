import { wrongType } from './error.js'

/** Generators, as `Object.prototype.toString` names them. */
const GENERATORS = ['[object Generator]', '[object AsyncGenerator]']

/** Whether a value is a promise, or would be taken for one. As no one waits for it, its failure is dropped. */
export function isPromise(value: unknown): boolean {
  const isOne = typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
  if (isOne) Promise.resolve(value).catch(() => {})
  return isOne
}

/** The result of a function of the caller. @throws TypeError for a promise or a generator */
export function synchronous<Result>(result: Result): Result {
  if (typeof result !== 'object' || result === null) return result
  if (isPromise(result)) throw wrongType('the function returned a promise, but it must not be async')
  if (GENERATORS.includes(Object.prototype.toString.call(result)))
    throw wrongType('the function returned a generator, which is never run: it must not be a function*')
  return result
}
