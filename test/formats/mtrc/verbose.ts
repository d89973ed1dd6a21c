/** An event as mpatrol's own reader prints it, with the source line below it if there is one. */
export interface VerboseEvent {
  type: string
  index?: bigint
  address: bigint
  size: bigint
  thread: bigint
  function?: string
  file?: string
  line?: number
}

const EVENT = /^ *(?:\d+ +)?(internal|reserve|alloc|realloc|free) +(?:(\d+) +)?0x([0-9A-F]+) +(\d+)/
const SOURCE = /^ {8,}(?:thread (\d+))?(?: ?in (.+?))?(?: ?at (.+) line (\d+))?$/

/** The table of events in what mpatrol's reader prints. Only the first trace of a stream is in it. */
export function parseVerbose(text: string): VerboseEvent[] {
  const events: VerboseEvent[] = []
  const table = text.slice(0, text.indexOf('memory allocation tracing statistics'))
  for (const line of table.split('\n').slice(2)) {
    const event = EVENT.exec(line)
    const source = event === null ? SOURCE.exec(line) : null
    if (event !== null) {
      const [, type = '', index, address, size = ''] = event
      const block = { address: BigInt(`0x${address}`), size: BigInt(size) }
      events.push({ type, ...(index && { index: BigInt(index) }), ...block, thread: 0n })
    } else if (source !== null) {
      const last = events[events.length - 1]
      const [, thread, name, file, number] = source
      if (thread) last.thread = BigInt(thread)
      if (name) last.function = name
      if (file) Object.assign(last, { file, line: Number(number) })
    } else if (line !== '') {
      throw new Error(`not a line of the table: ${JSON.stringify(line)}`)
    }
  }
  return events
}
