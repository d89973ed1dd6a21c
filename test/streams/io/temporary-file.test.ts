import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const MODULE = new URL('../../../dist/lib/streams/io/temporary-file.js', import.meta.url).href
const SCRIPT = `
  import { closeSync, openSync } from 'node:fs'
  import { openTemporary } from '${MODULE}'
  const open = []
  const fill = () => {
    try {
      for (;;) open.push(openSync('/dev/null'))
    } catch {
      return open.length
    }
  }
  // What is opened once is open then.
  for (const descriptor of openTemporary(process.argv[1]).descriptors) closeSync(descriptor)
  const before = fill()
  closeSync(open.pop())
  closeSync(open.pop())
  let code
  try {
    openTemporary(process.argv[1], 2)
  } catch (error) {
    code = error.code
  }
  const after = fill()
  for (const descriptor of open.splice(0)) closeSync(descriptor)
  console.log(code, after - before)
`

test('a temporary file of which not all descriptors can be opened leaves nothing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'heapflow-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const program = 'ulimit -n 60; exec "$0" --input-type=module -e "$1" "$2"'
  const output = execFileSync('sh', ['-c', program, process.execPath, SCRIPT, folder], { encoding: 'utf8' })
  expect(output).toBe('EMFILE 0\n')
  expect(readdirSync(folder)).toEqual([])
})
