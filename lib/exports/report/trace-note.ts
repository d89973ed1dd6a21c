/** A note for readers of a page with the trace, who must know this before they pass the page on. */
export const TRACE_NOTE =
  'This page contains the whole trace: addresses, names of functions and files, and command lines, if the recorder ' +
  'noted them. Whoever has the page has the trace. A page that is made with hf-report --embed 0 has only the report.'
