import { decodeText } from '../../event/strings.js'

/** The beginnings of `trace` and of the reports of trace-cmd. */
const HEADER = /^(?:# tracer: |(?:(?:version = \d+|CPU \d+ is empty)\r?\n)*cpus=\d+\r?\n)/
/** The line of an event up to its name: a time, a colon, and the tracepoint. */
const EVENT = /^[^\n]{1,100}\d(?:us[ +!#*@$])?: +(?:kmem:|kmalloc|kmem_cache_|kfree|mm_page_)/m

/** Whether bytes are the beginning of a trace: of what ftrace, perf script or trace-cmd report write. */
export function sniff(head: Uint8Array): boolean {
  const text = decodeText(head.subarray(0, 4096))
  return HEADER.test(text) || EVENT.test(text)
}
