// The pipeline of three processes (pipeline.sh) in one: each stage is a stream, and pipeline() ends and fails all of
// them together.
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { decompress, filter, hatf, mtrc } from 'heapflow'

const trace = new URL('../test/fixtures/mtrc/git.mtrc.gz', import.meta.url)
const directory = await mkdtemp(join(tmpdir(), 'heapflow-example-'))
const target = join(directory, 'large.hatf')
try {
  const encoder = hatf.encode()
  encoder.on('losses', (losses) => console.log('not carried by HATF:', Object.fromEntries(losses)))
  await pipeline(
    createReadStream(trace),
    decompress(),
    mtrc.decode(),
    filter({ kind: 'alloc', size: { from: 65_536n }, lifetimes: true }),
    encoder,
    createWriteStream(target),
  )
  console.log(`large.hatf: ${(await stat(target)).size} bytes`)
} finally {
  await rm(directory, { recursive: true })
}
