import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { scopedNames, type DebugSections } from '../../lib/symbols/dwarf-names.js'
import { readElf, sectionBytes } from '../../lib/symbols/elf.js'
import { fullNames } from '../../lib/streams/symbols/elf-file.js'
import { Symbolizer } from '../../lib/streams/symbols/symbolizer.js'
import { LoadedModules } from '../../lib/streams/symbols/loaded-modules.js'
import { DEBUG_NAMES, debugSections } from './dwarf-bytes.js'
import { runs } from '../support/runs.js'
import { stopwatch } from '../support/stopwatch.js'

const PROGRAM = `#include <stdlib.h>
namespace outer { namespace {
template <typename F> struct Keeper {
  void *kept;
  template <typename G> explicit Keeper(G &&make) : kept(make()) {}
};
} }
namespace one { struct Same { template <typename F> static int both(F f) { return f(); } }; }
namespace two { struct Same { template <typename F> static int both(F f) { return f() + 1; } }; }
int main() {
  auto make = [] { return malloc(77); };
  outer::Keeper<int> keeper(make);
  auto number = [] { return 3; };
  return one::Same::both(number) + two::Same::both(number) + (keeper.kept == nullptr);
}
`

const has = (tool: string): boolean => spawnSync(tool, ['--version'], { stdio: 'ignore' }).error === undefined

describe.skipIf(!has('g++'))('names of functions without linkage names (need g++)', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'heapflow-dwarf-'))
    writeFileSync(join(folder, 'a.cc'), PROGRAM)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  function compile(...options: string[]): string {
    const path = join(folder, `a${options.join('')}`)
    execFileSync('g++', ['-w', '-O2', '-g', ...options, '-o', path, join(folder, 'a.cc')])
    return path
  }

  function sectionsOf(path: string): DebugSections {
    const file = readFileSync(path)
    const read = (at: number, length: number) => file.subarray(at, at + length)
    const elf = readElf(read)!
    const bytes = (name: string) => Uint8Array.from(sectionBytes(elf, read, name, 1e8))
    return {
      little: elf.little,
      info: bytes('.debug_info'),
      abbrev: bytes('.debug_abbrev'),
      str: bytes('.debug_str'),
      lineStr: bytes('.debug_line_str'),
    }
  }

  const forms = ['-gdwarf-2', '-gdwarf-3', '-gdwarf-4', '-gdwarf-5', '-gdwarf64', '-gz=zlib']
  test.each(forms)('have their scopes: %s', (version) => {
    const names = fullNames(compile(version))
    expect(names.get('Keeper<main()::<lambda()>&>')).toBe(
      'outer::(anonymous namespace)::Keeper<int>::Keeper<main()::<lambda()>&>',
    )
    // Two functions have this name.
    expect(names.has('both<main()::<lambda()> >')).toBe(false)
  })

  test('compressed sections that are damaged, or larger than is read, give none', () => {
    const path = compile('-gz=zlib')
    const bytes = readFileSync(path)
    const read = (at: number, length: number) => bytes.subarray(at, at + length)
    const elf = readElf(read)!
    const inflate = vi.fn((part: Uint8Array, size: number) => inflateSync(part, { maxOutputLength: size }))
    const size = sectionBytes(elf, read, '.debug_info', 1e8, inflate).length
    expect(size).toBeGreaterThan(0)
    expect(sectionBytes(elf, read, '.debug_info', size, inflate)).toHaveLength(size)
    expect(sectionBytes(elf, read, '.debug_info', size - 1, inflate)).toHaveLength(0)
    expect(inflate).toHaveBeenCalledTimes(2)
    // Without the function that inflates, there are none.
    expect(sectionBytes(elf, read, '.debug_info', 1e8)).toHaveLength(0)
    bytes.set([0xff, 0xff], bytes.indexOf((inflate.mock.calls[0]![0] as Buffer).subarray(0, 64)))
    writeFileSync(path, bytes)
    expect(fullNames(path).size).toBe(0)
  })

  test('there are none without debug information', () => {
    expect(fullNames(compile('-s')).size).toBe(0)
    expect(fullNames(join(folder, 'a.cc')).size).toBe(0)
    expect(fullNames(join(folder, 'none')).size).toBe(0)
  })

  test.skipIf(!has('llvm-symbolizer'))('what was inlined has them (needs llvm-symbolizer)', async () => {
    const path = compile()
    const file = readFileSync(path)
    const symbols = execFileSync('nm', [path], { encoding: 'utf8' })
    const main = Number.parseInt(/^([0-9a-f]+) T main$/m.exec(symbols)![1]!, 16)
    const symbolizer = new Symbolizer({ tool: 'llvm-symbolizer' }, new LoadedModules())
    const offsets = Array.from({ length: 64 }, (_, i) => BigInt(main + i))
    const names = [...(await symbolizer.names(path, offsets)).values()].flat().map((name) => name.function)
    symbolizer.close()
    expect(file.length).toBeGreaterThan(0)
    expect(names).toContain('outer::(anonymous namespace)::Keeper<int>::Keeper<main()::<lambda()>&>')
  })

  test('damage ends the reading, with the names before it, in little time', () => {
    const whole = sectionsOf(compile('-gdwarf-5'))
    const most = scopedNames(whole).size
    expect(most).toBeGreaterThan(0)
    const parts = ['info', 'abbrev', 'str', 'lineStr'] as const
    fc.assert(
      fc.property(
        fc.constantFrom(...parts),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.option(fc.integer({ min: 0, max: 255 })),
        (part, where, byte) => {
          const bytes = Uint8Array.from(whole[part])
          const at = Math.floor(where * bytes.length)
          if (byte !== null && at < bytes.length) bytes[at] = byte
          const time = stopwatch()
          scopedNames({ ...whole, [part]: byte === null ? bytes.subarray(0, at) : bytes })
          expect(time()).toBeLessThan(2000)
        },
      ),
      { numRuns: runs(1000) },
    )
  })
})

/** A unit of DWARF 4 with these bytes of entries and abbreviations. */
function unit(entries: readonly number[] | Uint8Array, abbrev: readonly number[]): DebugSections {
  const info = new Uint8Array(11 + entries.length)
  new DataView(info.buffer).setUint32(0, info.length - 4, true)
  info[4] = 4
  info[10] = 8
  info.set(entries, 11)
  return { little: true, info, abbrev: Uint8Array.from(abbrev), str: new Uint8Array(1), lineStr: new Uint8Array(1) }
}

const [CLASS, NAMESPACE, FUNCTION, NAME, FLAG, TEXT] = [0x02, 0x39, 0x2e, 0x03, 0x19, 0x08]

describe('names in crafted debug information', () => {
  test.each(
    ([2, 3, 4, 5] as const).flatMap((version) =>
      [true, false].flatMap((little) => [true, false].map((is64) => ({ version, little, is64 }))),
    ),
  )('have their scopes in each version, width and byte order: %j', (shape) => {
    expect([...scopedNames(debugSections(shape))]).toEqual(DEBUG_NAMES)
  })

  test('very many short names take bounded memory, and are read as far as the limit', { tags: ['slow'] }, () => {
    const count = 400_000
    const entries = Buffer.concat(
      Array.from({ length: count }, (_, i) => Buffer.from(`\x01<${i.toString(36).padStart(4, '0')}\0`)),
    )
    const { size } = scopedNames(unit(entries, [1, FUNCTION, 0, NAME, TEXT, 0, 0, 0]))
    expect(size).toBeGreaterThan(200_000)
    expect(size).toBeLessThan(2 ** 18)
  })

  test('very many tables of abbreviations take bounded memory', () => {
    const units = 300_000
    const info = new Uint8Array(12 * units)
    const view = new DataView(info.buffer)
    for (let at = 0, i = 0; at < info.length; at += 12, i++) {
      view.setUint32(at, 8, true)
      info[at + 4] = 4
      view.setUint32(at + 6, 8 + i, true)
    }
    const last = unit(Buffer.from('\x01f<int>\0'), [1, FUNCTION, 0, NAME, TEXT, 0, 0, 0])
    const after = (n: number) => ({
      ...last,
      info: Buffer.concat([info.subarray(0, 12 * n), last.info.fill(0, 6, 10)]),
      abbrev: Buffer.concat([last.abbrev, new Uint8Array(units)]),
    })
    expect(scopedNames(after(1000)).size).toBe(1)
    expect(scopedNames(after(units)).size).toBe(0)
  })

  test('entries of one byte with very many attributes take bounded time', { tags: ['slow'] }, () => {
    const attributes = Array.from({ length: 100_000 }, () => [0x3f, FLAG]).flat()
    const time = stopwatch()
    expect(scopedNames(unit(new Uint8Array(1_000_000).fill(1), [1, CLASS, 0, ...attributes, 0, 0, 0])).size).toBe(0)
    expect(time()).toBeLessThan(20_000)
  })

  // GNU_strp_alt, strp_sup and strx1.
  test.each([
    [[0xa1, 0x3e], 4],
    [[0x1d], 4],
    [[0x25], 1],
  ])('what is in a scope whose name is elsewhere (form %j) has no full name', (form, size) => {
    const inScope = (name: readonly number[], bytes: readonly number[]) =>
      unit(
        [1, ...bytes, 2, ...Buffer.from('f<int>\0'), 0],
        [1, NAMESPACE, 1, NAME, ...name, 0, 0, 2, FUNCTION, 0, NAME, TEXT, 0, 0, 0],
      )
    expect([
      ...scopedNames(
        inScope(
          form,
          Array.from({ length: size }, () => 0),
        ),
      ),
    ]).toEqual([])
    expect([...scopedNames(inScope([TEXT], [...Buffer.from('n\0')]))]).toEqual([['f<int>', 'n::f<int>']])
  })
})
