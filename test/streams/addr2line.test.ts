import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { elfFile } from '../../lib/streams/symbols/elf-file.js'
import { LoadedModules } from '../../lib/streams/symbols/loaded-modules.js'
import { Symbolizer } from '../../lib/streams/symbols/symbolizer.js'
import { runs } from '../support/runs.js'

const CPP = `#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>
namespace app { inline namespace v2 {
template <class T, int N> struct Pool { std::vector<T> v; T *take(int i) { v.resize(i + N); return &v[i]; } };
struct Server {
  std::map<std::string, std::vector<int>> m;
  void handle(const std::string &s) { m[s].push_back(s.size()); }
  virtual ~Server() {}
};
}}
int main(int argc, char **argv) {
  app::Pool<std::string, 4> p; *p.take(3) = "x";
  auto s = std::make_unique<app::Server>(); for (int i = 0; i < argc; i++) s->handle(argv[i]);
  std::vector<std::string> v(argv, argv + argc); std::sort(v.begin(), v.end());
  std::ostringstream o; o << v.size();
  std::regex r("a(b|c)*d"); std::function<int(int)> g = [&](int x) { return x + v.size(); };
  return g(std::regex_match(v[0], r));
}
`
const RUST = `use std::collections::HashMap;
fn work<T: ToString>(t: T) -> String { (0..10).map(|i| t.to_string() + &i.to_string()).collect() }
fn main() {
  let mut m: HashMap<String, Vec<u64>> = HashMap::new();
  for a in std::env::args() { m.entry(work(a)).or_default().push(1); }
  println!("{:?}", m);
}
`

const has = (tool: string): boolean => spawnSync(tool, ['--version'], { stdio: 'ignore' }).error === undefined
const folder = mkdtempSync(join(tmpdir(), 'addr2line-'))
afterAll(() => rmSync(folder, { recursive: true }))

function compiled(name: string, source: string, tool: string, ...flags: string[]): string {
  const [from, to] = [join(folder, `${name}.${tool === 'rustc' ? 'rs' : 'cpp'}`), join(folder, name)]
  writeFileSync(from, source)
  execFileSync(tool, [...flags, '-g', from, '-o', to], { stdio: 'ignore' })
  return to
}

/** The files, and the tools that make them. */
const FILES: readonly (readonly [string, string, () => string])[] = [
  ['C++ with optimization', 'c++', () => compiled('fast', CPP, 'c++', '-O2')],
  ['C++ without', 'c++', () => compiled('plain', CPP, 'c++', '-O0')],
  ['Rust', 'rustc', () => compiled('rust', RUST, 'rustc', '-O')],
  [
    'C, a shared library',
    'cc',
    () => {
      const path = join(folder, 'recorder.so')
      const source = resolve(import.meta.dirname, '../../native/recorder/recorder.c')
      execFileSync('cc', ['-g', '-O2', '-fPIC', '-shared', '-pthread', source, '-o', path])
      return path
    },
  ],
  ['node', 'node', () => process.execPath],
]

/** The end of the name of a copy of a function. */
const COPY = / \[clone .*\]$|(?:\.(?:isra|part|constprop|cold)(?:\.\d+)*)+$/

type Place = [name: string, file: string | undefined, line: number | undefined]

/** What addr2line itself says of addresses: an empty list for those that it does not know. */
function reference(path: string, addresses: readonly number[]): Place[][] {
  const text = execFileSync('addr2line', ['-a', '-i', '-C', '-f', '-e', path], {
    input: addresses.map((address) => `0x${address.toString(16)}\n`).join(''),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  return text
    .split(/^0x[0-9a-f]+\n/m)
    .slice(1)
    .map((answer) => {
      const lines = answer.split('\n').slice(0, -1)
      const places: Place[] = []
      for (let i = 0; i + 1 < lines.length; i += 2) {
        const [, file, line] = /^(.*):(\d+|\?)(?: \(discriminator \d+\))?$/.exec(lines[i + 1]) ?? []
        places.push([lines[i], file === '??' ? undefined : file, Number(line) || undefined])
      }
      return places.some(([name]) => name !== '??') ? places : []
    })
}

/** Random addresses of the code of a file. */
function codeAddresses(path: string): number[] {
  const sections = execFileSync('readelf', ['-SW', path], { encoding: 'utf8' })
  const [, start = '', size = ''] = /\.text +PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)/.exec(sections) ?? []
  const from = Number.parseInt(start, 16)
  const address = fc.integer({ min: from, max: from + Number.parseInt(size, 16) - 1 })
  return [...new Set(fc.sample(address, { numRuns: runs(10_000), seed: 1 }))]
}

const missing = ['addr2line', 'readelf', 'c++filt'].filter((tool) => !has(tool))

describe.skipIf(missing.length > 0)(`names are those of addr2line (needs ${missing.join(' ') || 'no more'})`, () => {
  for (const tool of ['addr2line', 'llvm-symbolizer'] as const)
    for (const [what, compiler, make] of FILES) {
      const options = { tags: [what === 'C++ without' ? 'large' : 'slow'], timeout: 120_000 }
      test.skipIf(!has(tool) || !has(compiler))(`by ${tool}, at many addresses: ${what}`, options, async (context) => {
        const path = make()
        if (elfFile(path)?.hasLines !== true) return context.skip('it has no lines')
        const asked = codeAddresses(path)
        const expected = reference(path, asked)
        const symbolizer = new Symbolizer({ tool }, new LoadedModules())
        const found = await symbolizer.names(path, asked.map(BigInt))
        symbolizer.close()
        expect(symbolizer.warnings).toEqual([])
        let known = 0
        let compared = 0
        const others: unknown[] = []
        asked.forEach((address, i) => {
          const is = (found.get(BigInt(address)) ?? []).map((name) => [name.function ?? '??', name.file, name.line])
          const places = expected[i]
          if (places.length === 0) return
          known++
          // Between two functions, addr2line gives the one before, and llvm-symbolizer none.
          if (is.length === 0 && tool !== 'addr2line') return
          // One of several symbols at an address, or before one without a size, is as good as another.
          if (tool !== 'addr2line' && places.every(([, , line]) => line === undefined)) return
          compared++
          const names = (list: readonly unknown[]) =>
            list.map((place) => (place as Place)[0].replace(COPY, '')).join('\n')
          if (names(is) !== names(places)) others.push({ address, is, places })
        })
        expect(known).toBeGreaterThan(asked.length / 2)
        expect(compared).toBeGreaterThan(0)
        // The two read some of the debug information differently.
        const most = tool === 'addr2line' ? 0 : compared / 100
        expect(others.length, JSON.stringify(others.slice(0, 5), null, 1)).toBeLessThanOrEqual(most)
      })
    }
})
