/**
 * A program that is better with a pool, as NDJSON: short-lived blocks of sizes that grow, between long-lived ones that
 * fit in none of the holes that these leave. @param bursts 60 give 1.3 MiB of live and 0.3 MiB of other memory
 */
export function fragmented(bursts = 60): string {
  const lines: string[] = []
  let address = 0x1000
  const add = (event: object) => lines.push(`${JSON.stringify(event)}\n`)
  const alloc = (size: number, stack: readonly string[]) => {
    address += 0x1000
    add({ kind: 'alloc', address: `0x${address.toString(16)}`, size, stack })
    return address
  }
  for (let burst = 0; burst < bursts; burst++) {
    const short = []
    for (let i = 0; i < 30; i++) {
      short.push(alloc(64 + 8 * burst, ['malloc', 'parse at parse.c:12', 'main at main.c:3']))
      alloc(600, ['malloc', 'keep at keep.c:7', 'main at main.c:3'])
    }
    for (const at of short) add({ kind: 'free', address: `0x${at.toString(16)}` })
  }
  return lines.join('')
}
