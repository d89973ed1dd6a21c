import { wrongType } from './error.js'

/** Whether a value is a promise, or would be taken for one. */
export function isPromise(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** The result of a function of the caller. @throws TypeError for a promise */
export function synchronous<Result>(result: Result): Result {
  if (isPromise(result)) throw wrongType('the function returned a promise, but it must not be async')
  return result
}
