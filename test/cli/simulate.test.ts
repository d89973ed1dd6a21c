import { describe, expect, test } from 'vitest'
import { POLICIES } from '../../lib/transforms/simulate/policies.js'
import { scratch, shell } from '../support/commands.js'

const TRACE = [
  '{"kind":"alloc","address":"0x10","size":100}',
  '{"kind":"alloc","address":"0x20","size":8}',
  '{"kind":"free","address":"0x10"}',
  '{"kind":"alloc","address":"0x30","size":40}',
  '',
].join('\n')

describe('hf-simulate', () => {
  test('shows the figures of a policy', async () => {
    const { code, stdout } = await shell('hf-simulate --policy best-fit --trim 0', TRACE)
    expect(code).toBe(0)
    expect(stdout.toString()).toMatch(/^simulation\n {2}policy {4}best-fit, immediate .*, trim 0\n/)
    expect(stdout.toString()).toMatch(/\n {2}requested +108 +100 +100\n/)
  })

  test('shows a table of all policies', async () => {
    const lines = (await shell('hf-simulate --compare all', TRACE)).stdout.toString().split('\n')
    expect(lines[0]).toBe('2 live blocks of 108 bytes at the peak')
    expect(lines.slice(2, -1).map((line) => line.trim().split(' ')[0])).toEqual([...POLICIES])
    const some = (await shell('hf-simulate --compare bump --compare ideal', TRACE)).stdout.toString()
    expect(some.split('\n')).toHaveLength(5)
  })

  test('has no figures of ptmalloc for several processes', async () => {
    const trace = [1, 2].map((process) => `{"kind":"alloc","process":${process},"address":"0x10","size":8}\n`).join('')
    const { code, stdout } = await shell('hf-simulate --compare ptmalloc --compare bump', trace)
    expect(code).toBe(0)
    expect(stdout.toString()).toMatch(/\n {2}bump +8,192 .*\n {2}ptmalloc( +-){9}\n$/)
    const single = await shell('hf-simulate --policy ptmalloc', trace)
    expect([single.code, single.stderr]).toEqual([1, expect.stringMatching(/event 2.*simulated for one process/)])
  })

  test('writes the figures as JSON', async () => {
    const { stdout } = await shell('hf-simulate --compare first-fit --compare ideal --json', TRACE)
    const { traces } = JSON.parse(stdout.toString()) as { traces: { simulations: Record<string, unknown>[] }[] }
    expect(traces).toHaveLength(1)
    expect(traces[0]?.simulations.map(({ settings }) => (settings as { policy: string }).policy)).toEqual([
      'first-fit',
      'ideal',
    ])
    const [fit] = (traces[0] as { simulations: Record<string, unknown>[] }).simulations as [Record<string, unknown>]
    expect(fit).toMatchObject({
      events: 4,
      changes: 4,
      mostLive: { event: 2, requested: 108, granted: 144, internal: 0.25 },
    })
    expect(fit['timeline']).toHaveLength(4)
  })

  test('writes a trace', async () => {
    const { stdout } = await shell('hf-simulate --policy bump --to replay | hf-verify', TRACE)
    expect(stdout.toString()).toBe('4 events, no faults\n')
    const folder = scratch()
    const line = `cd ${folder} && hf-simulate --policy segregated --classes 16,64,128 -o x.ndjson.gz && hf-verify x.ndjson.gz`
    expect((await shell(line, TRACE)).stdout.toString()).toBe('4 events, no faults\n')
  })

  test('shows the figures of what could be read', async () => {
    const { code, stdout, stderr } = await shell('hf-simulate --policy bump', `${TRACE}{"kind":"al`)
    expect(code).toBe(1)
    expect(stdout.toString()).toMatch(/events +4, of which 4/)
    expect(stderr).toMatch(/truncated/)
  })

  test('shows the events before a block that is too large', async () => {
    const large = `${TRACE}{"kind":"alloc","address":"0x40","size":${2n ** 50n}}\n`
    const { code, stdout, stderr } = await shell('hf-simulate --policy bump', large)
    expect(code).toBe(1)
    expect(stdout.toString()).toMatch(/events +4, of which 4/)
    expect(stderr).toMatch(
      /^hf-simulate: .*event 5: over the limit: the simulated heap would have more than 2\^45 bytes/,
    )
    const written = await shell('hf-simulate --policy bump --to ndjson', large)
    expect(written.code).toBe(1)
    expect(written.stdout.toString().split('\n')).toHaveLength(6)
  })

  test.each([
    ['', /--policy or --compare is needed/],
    ['--policy bump --compare all', /--policy and --compare cannot be combined/],
    ['--policy ideal --to ndjson', /--to: ideal moves blocks at each event, so it has no addresses/],
    ['--compare all -o x.ndjson', /--output needs --policy/],
    ['--compare all --header 8', /--compare takes the default options: --header needs --policy/],
    ['--policy bump --json --to ndjson', /--json and --to cannot be combined/],
    ['--policy bump --zstd', /--zstd needs -o, --to or --arrow/],
    ['--policy bump --list lifo', /--list is an option of first-fit, not bump/],
    ['--policy bump --page 3K', /--page must be a power of two, not 3072/],
    ['--policy bump --header x', /--header needs a number of bytes/],
    ['--policy segregated --classes 16,x', /--classes needs sizes with commas between them, or one of/],
    ['--policy worst-fit', /worst-fit/],
  ])('%s is a usage error', async (flags, message) => {
    const { code, stderr } = await shell(`hf-simulate ${flags}`, TRACE)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })
})
