import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { DtdError } from '../../lib/metatf/index.js'
import { findDtd, NoDtdError, openDtd } from '../../lib/streams/dtd-files.js'

/** A DTD with one record, by whose name it is told from others. */
const dtd = (record: string) =>
  `tag.width = 1; x.width = 1; x.interpretation = none;\n${record} : (tag, x) { tag.value = 4; }\n`
const recordOf = (name: string, where: Parameters<typeof findDtd>[1]) =>
  findDtd(name, where).sections[0]?.records.at(-1)?.name

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'heapflow-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('findDtd', () => {
  test('looks beside the trace, then in the folders, then in those of the environment, then among its own', () => {
    const top = folder()
    const [beside, given, environment] = ['a', 'b', 'c'].map((name) => join(top, name)) as [string, string, string]
    for (const path of [beside, given, environment]) {
      mkdirSync(path)
      writeFileSync(join(path, `${basename(path)}.dtd`), dtd(`own_${basename(path)}`))
      writeFileSync(join(path, 'all.dtd'), dtd(`all_${basename(path)}`))
    }
    writeFileSync(join(environment, 'hatf10.dtd'), dtd('another'))
    vi.stubEnv('HEAPFLOW_DTD_PATH', `/no/such/folder:${environment}:`)
    const where = { trace: join(beside, 'trace.mtf'), folders: [given] }
    expect(['a', 'b', 'c', 'all'].map((name) => recordOf(`${name}.dtd`, where))).toEqual([
      'own_a',
      'own_b',
      'own_c',
      'all_a',
    ])
    expect(recordOf('all.dtd', { folders: [given] })).toBe('all_b')
    expect(recordOf('all.dtd', {})).toBe('all_c')
    expect(recordOf('HATF10.dtd', where)).not.toBe('another')
    expect(recordOf('hatf10.dtd', where)).toBe('another')
  })

  test('takes only the last part of URLs and of paths, so that a trace names no folders', () => {
    const top = folder()
    mkdirSync(join(top, 'in/dtds'), { recursive: true })
    writeFileSync(join(top, 'secret.dtd'), dtd('secret'))
    writeFileSync(join(top, 'in/x.dtd'), dtd('beside'))
    writeFileSync(join(top, 'in/dtds/x.dtd'), dtd('below'))
    writeFileSync(join(top, 'in/dtds/y.dtd'), dtd('below'))
    const where = { trace: join(top, 'in/trace.mtf') }
    for (const name of [
      'http://example.org/a/x.dtd',
      '/a/x.dtd',
      '../x.dtd',
      'none/x.dtd',
      'dtds/x.dtd',
      './x.dtd',
      `${top}/x.dtd`,
    ])
      expect(recordOf(name, where)).toBe('beside')
    for (const name of [
      '../secret.dtd',
      join(top, 'secret.dtd'),
      `file://${top}/secret.dtd`,
      'dtds/../../secret.dtd',
      'dtds/y.dtd',
      'dtds\\y.dtd',
      '',
      '..',
      'a\0b',
    ]) {
      expect(() => findDtd(name, where)).toThrow(NoDtdError)
    }
  })

  test('says where it has looked', () => {
    const top = folder()
    vi.stubEnv('HEAPFLOW_DTD_PATH', '/no/such/folder')
    expect(() => findDtd('http://example.org/x.dtd', { trace: `${top}/t.mtf`, folders: ['/other', top] })).toThrow(
      new RegExp(
        `^there is no x\\.dtd in ${top}, /other, /no/such/folder or among the DTDs that come with heapflow \\(.*hatf\\.dtd, .*hatf10\\.dtd`,
      ),
    )
  })

  test('shows names without anything that a terminal would act on, and not all of long ones', () => {
    const said = (name: string) => {
      try {
        return findDtd(name, {}).file
      } catch (error) {
        return (error as Error).message
      }
    }
    expect(said('\x1b]0;x\x07\x7f\x9b31m\u202e.dtd')).toMatch(
      /^there is no \\u001b\]0;x\\u0007\\u007f\\u009b31m\\u202e\.dtd among /,
    )
    expect(said('x'.repeat(70_000))).toMatch(/^there is no x{80}\.\.\. among /)
  })

  test('takes files only, for a trace must not make it wait', () => {
    const top = folder()
    mkdirSync(join(top, 'x.dtd'))
    expect(() => findDtd('x.dtd', { trace: join(top, 't') })).toThrow(NoDtdError)
  })

  test('follows no symbolic link beside the trace, which may have come with it, but those of the user', () => {
    const top = folder()
    for (const name of ['in', 'mine']) mkdirSync(join(top, name))
    writeFileSync(join(top, 'secret.dtd'), dtd('secret'))
    for (const name of ['in/x.dtd', 'mine/x.dtd']) symlinkSync('../secret.dtd', join(top, name))
    const trace = join(top, 'in/trace.mtf')
    expect(() => findDtd('x.dtd', { trace })).toThrow(/in\/x\.dtd is a symbolic link, which is not followed$/)
    expect(recordOf('x.dtd', { trace, folders: [join(top, 'mine')] })).toBe('secret')
  })

  test('has those of heapflow by their names, whatever the case', () => {
    expect(findDtd('http://example.org/HATF10.dtd', {})).toMatchObject({ version: '1.0', file: 'hatf10.dtd' })
    expect(findDtd('hatf10-split.dtd', {})).toMatchObject({ version: '1.0', file: 'hatf10-split.dtd' })
    expect(findDtd('hatf.dtd', {})).toMatchObject({ version: '1.2', file: 'hatf.dtd' })
  })
})

describe('openDtd', () => {
  test('opens the file that is named, wherever it is, and finds plain names', () => {
    const top = folder()
    writeFileSync(join(top, 'x.dtd'), dtd('r'))
    expect(openDtd(join(top, 'x.dtd')).file).toBe(join(top, 'x.dtd'))
    expect(openDtd('x.dtd', [top]).file).toBe(join(top, 'x.dtd'))
    expect(openDtd('hatf10.dtd').file).toBe('hatf10.dtd')
    expect(() => openDtd('x.dtd')).toThrow(NoDtdError)
    expect(() => openDtd(join(top, 'y.dtd'), [top])).toThrow(/ENOENT/)
  })

  test('tells what is wrong with it, and reads no more than it may', () => {
    const top = folder()
    writeFileSync(join(top, 'x.dtd'), 'x : (tag) {}')
    expect(() => openDtd(join(top, 'x.dtd'))).toThrow(DtdError)
    writeFileSync(join(top, 'x.dtd'), ' '.repeat(3 << 20))
    expect(() => openDtd(join(top, 'x.dtd'))).toThrow(`${top}/x.dtd:1:1: the text is longer than 1048576 characters`)
  })
})
