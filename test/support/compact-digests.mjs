// Digests of traces as compact, at both levels: `node compact-digests.mjs <dist> <trace>...`, a line for each. It is
// plain JavaScript so that every version of Node that the package supports can run it.
import { createHash } from 'node:crypto'
import { pathToFileURL } from 'node:url'

const [dist, ...paths] = process.argv.slice(2)
const { CompactEncoder } = await import(pathToFileURL(`${dist}/lib/entry/compact.js`).href)
const { openTrace } = await import(pathToFileURL(`${dist}/lib/entry/index.js`).href)

for (const path of paths) {
  for (const level of [1, 2]) {
    const hash = createHash('sha256')
    const encoder = new CompactEncoder({ level })
    const take = () => {
      for (let bytes = encoder.next(); bytes !== null; bytes = encoder.next()) hash.update(bytes)
    }
    for await (const batch of openTrace(pathToFileURL(path)).batches) {
      encoder.feed(batch)
      take()
    }
    encoder.end()
    take()
    process.stdout.write(`${hash.digest('hex')}\n`)
  }
}
