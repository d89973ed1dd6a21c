import type { TimeUnit, TraceHeader } from '../event/header.js'
import type { Dtd } from './model.js'

/**
 * The unit of times in the traces of a DTD, if a line `## TimeUnit: ns`, or `us`, at its beginning says so: an addition
 * of this project, for the language has no place for it.
 */
export function timeUnitOf({ headers }: Dtd): Pick<TraceHeader, 'timeUnit'> {
  const found = headers.find(({ key }) => key.toLowerCase() === 'timeunit')?.value
  return found === 'ns' || found === 'us' ? { timeUnit: found satisfies TimeUnit } : {}
}
