// A trace of a program that is better with a pool: short-lived blocks of growing sizes between long-lived ones.

/** Lines of NDJSON. */
export function pooledTrace() {
  const lines = []
  let address = 0
  const alloc = (size, at) => {
    address += 0x1000
    lines.push(JSON.stringify({ kind: 'alloc', address: `0x${address.toString(16)}`, size, stack: [at] }))
    return `0x${address.toString(16)}`
  }
  for (let burst = 0; burst < 60; burst++) {
    const short = []
    for (let i = 0; i < 30; i++) {
      short.push(alloc(64 + 8 * burst, 'parse at parse.c:12'))
      alloc(600, 'keep at keep.c:7')
    }
    for (const one of short) lines.push(JSON.stringify({ kind: 'free', address: one }))
  }
  return `${lines.join('\n')}\n`
}
