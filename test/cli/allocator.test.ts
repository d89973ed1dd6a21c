import { describe, expect, test } from 'vitest'
import { fileURLToPath } from 'node:url'
import { shell } from '../support/commands.js'

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))

describe('hf-stats --allocator', () => {
  test('reports the version of glibc and how many addresses are predicted', { tags: ['slow'] }, async () => {
    const { stdout, stderr, code } = await shell(`hf-stats --allocator ${fixture('replay/git.txt.gz')}`)
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    expect(stdout.toString()).toBe(
      'allocator   ptmalloc of glibc 2.30 to 2.40, 64 bit\n' +
        'stacks      8392704 bytes for each thread\n' +
        'addresses   148057\n' +
        'predicted   148054 (99.9980 %)\n',
    )
  })

  test('as JSON', async () => {
    const { stdout, code } = await shell(`hf-stats --allocator --json ${fixture('replay/twolf-head.txt')}`)
    expect(code).toBe(0)
    expect(JSON.parse(stdout.toString())).toEqual({
      allocator: 'ptmalloc',
      bits: 64,
      glibc: ['2.30', '2.40'],
      isCertain: true,
      blocks: 1652,
      predicted: 1651,
      settings: { version: 36, cores: 0, stack: 0x80_1000 },
    })
  })

  test('says that the version is not certain where many addresses do not follow from the calls', async () => {
    const { stdout } = await shell(`hf-stats --allocator ${fixture('heaptrack/cxx.raw.gz')}`)
    expect(stdout.toString()).toMatch(/^allocator   ptmalloc .*\n(.*\n)+The version is not certain: /)
  })

  test('does not claim to know an allocator that is not simulated', async () => {
    const { stdout, code } = await shell(`hf-stats --allocator --trace 1 ${fixture('tracepoints/trace_pipe.txt')}`)
    expect(code).toBe(0)
    expect(stdout.toString()).toMatch(/^allocator   not recognized: /)
  })

  test('refuses addresses that are not those of the program', async () => {
    const { stdout, stderr, code } = await shell(`hf-stats --allocator ${fixture('heaptrack/cxx.heaptrack.gz')}`)
    expect([stdout.length, code]).toEqual([0, 2])
    expect(stderr).toContain('an interpreted heaptrack file does not have the addresses of its blocks')
  })

  test('of a trace without blocks', async () => {
    const { stdout, code } = await shell('hf-stats --allocator', '7: free 0x1000\n')
    expect(code).toBe(0)
    expect(stdout.toString()).toBe('The trace has no blocks with address and size.\n')
  })

  test.each(['--table', '--section sizes', '--every 1s'])('cannot be combined with %s', async (flags) => {
    const { stderr, code } = await shell(`hf-stats --allocator ${flags}`)
    expect(code).toBe(2)
    expect(stderr).toContain('and --allocator cannot be combined')
  })

  test('shows what was read of a truncated trace before the error', async () => {
    const { stdout, code } = await shell(`head -c 300000 ${fixture('replay/git.txt.gz')} | hf-stats --allocator`)
    expect(code).toBe(1)
    expect(stdout.toString()).toMatch(/^allocator   ptmalloc of glibc 2\.30 to 2\.40/)
  })
})
