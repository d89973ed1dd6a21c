import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { shell } from '../../support/commands.js'

const TRACE = 'test/fixtures/mtrc/small64.mtrc.gz'
const MIB = 1_048_576
/** Prints the capacity of its standard input on standard error, when something has come. */
const READER = `perl -e 'read STDIN, $b, 1; print STDERR fcntl(STDIN, 1032, 0) + 0; 1 while read STDIN, $b, 65536'`
/** The same for its standard output, when more has gone than fits a pipe. */
const WRITER = `perl -e '$| = 1; print qq({"kind":"alloc","size":8}\n) x 20000; print STDERR fcntl(STDOUT, 1032, 0) + 0'`

const module = fileURLToPath(new URL(`../../../dist/native/pipes-${process.arch}.node`, import.meta.url))
const canTell = process.platform === 'linux' && existsSync(module) && spawnSync('perl', ['-v']).error === undefined

describe.skipIf(!canTell)('the capacity of pipes (needs Linux, perl, and a C compiler at the build)', () => {
  test.each([
    ['output', `mtrc-decode ${TRACE} | ${READER}`],
    ['input', `${WRITER} | hf-filter > /dev/null`],
  ])('%s', async (_, line) => {
    expect(Number((await shell(line)).stderr)).toBe(MIB)
  })
})

test('without the module, pipes give the same', async () => {
  const [fast, plain] = await Promise.all(
    ['', 'NODE_OPTIONS=--no-addons '].map((set) =>
      shell(`${set}mtrc-decode ${TRACE} | ${set}hf-filter --kind alloc | ${set}hatf-encode --attributes`),
    ),
  )
  expect(fast).toMatchObject({ code: 0 })
  expect(plain).toEqual(fast)
})

test.skipIf(!existsSync(module))('needs no library', () => {
  expect(readFileSync(module, 'latin1')).not.toMatch(/lib\w*\.so/)
})
