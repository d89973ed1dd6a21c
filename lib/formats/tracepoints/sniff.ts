import { decodeText } from '../../event/strings.js'

/** What `trace` and the reports of trace-cmd begin with. */
const HEADER = /^(?:# tracer: |(?:version = \d+\n)?cpus=\d+\n)/
/** A line of an event, up to its name: a time, a colon, and which tracepoint it was. */
const EVENT = /^[^\n]{1,100}\d(?:us[ +!#*@$])?: +(?:kmem:|kmalloc|kmem_cache_|kfree|mm_page_)/m

/** Whether bytes are the beginning of a trace: of what ftrace, perf script or trace-cmd report write. */
export function sniff(head: Uint8Array): boolean {
  const text = decodeText(head.subarray(0, 4096))
  return HEADER.test(text) || EVENT.test(text)
}
