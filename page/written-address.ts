import { setFilter } from './address.js'

/** The number of traces that the page has shown. */
let traces = 0

/** The filter of another trace is none of this one. */
export function beginTrace(): void {
  traces++
  setFilter([])
}

/**
 * Writes an address, and marks it as written by the page. So the way back to an address without a filter is not taken
 * for a link to a view, which keeps the filter of the page.
 * @param isStep whether the way back leads to the address before it
 */
export function writeAddress(address: string, isStep = false): void {
  if (isStep) history.pushState(traces, '', address)
  else if (location.hash !== address || !isWritten()) history.replaceState(traces, '', address)
}

/** Whether the page wrote its address for this trace. */
export function isWritten(): boolean {
  return history.state === traces
}
