import { readFileSync } from 'node:fs'
import type { SuppressibleFrame } from '../../lib/names/suppression.js'
import { parseSuppressions } from '../../lib/names/suppressions.js'
import { debugLink, FunctionSymbols, MAX_NAME_BYTES, readElf, type ReadAt } from '../../lib/symbols/elf.js'
import { budgetsOf } from '../../lib/transforms/check/budgets.js'
import { elfFile, type ElfShape } from '../symbols/elf-bytes.js'
import { Budget } from './budget.js'
import { Failure } from './failure.js'
import { Mutator } from './mutate.js'
import type { Random } from './random.js'
import type { Target } from './target.js'

const text = (value: string) => new Uint8Array(Buffer.from(value))

/** Reads bytes as a file is read, and counts the reads and what they give. */
export class CountingFile {
  reads = 0
  readonly budget = new Budget()

  constructor(private readonly bytes: Uint8Array) {
    this.budget.add(bytes)
  }

  readonly read: ReadAt = (offset, length) => {
    if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length) || offset < 0 || length < 0)
      throw new Failure(`reads ${length} bytes at ${offset}`)
    this.reads++
    // A file gives bytes of its own each time.
    return this.bytes.slice(Math.min(offset, this.bytes.length), Math.min(offset + length, this.bytes.length))
  }
}

const SHAPES: readonly ElfShape[] = [
  { is64: true, little: true },
  { is64: false, little: true },
  { is64: true, little: false },
  { is64: false, little: false },
  { is64: true, little: true, symbols: 300, tables: 40 },
  { is64: false, little: false, link: text('app.debug\0\0\0\x01\x02\x03\x04') },
]

function elfTarget(): Target {
  const node = readFileSync(process.execPath).subarray(0, 8192)
  const seeds = [...SHAPES.map(elfFile), new Uint8Array(node)]
  const words = [0, 1, 0x7f, 0xff, 0xffff, 0x7fff_ffff, 0xffff_ffff].map((value) => {
    const word = new Uint8Array(8)
    new DataView(word.buffer).setUint32(0, value, true)
    return word
  })
  const mutator = new Mutator(seeds, [...words, text('\x7fELF'), text('GNU\0'), text('.debug_line\0')])
  return {
    name: 'elf',
    weight: 2,
    make(random) {
      const bytes = mutator.make(random)
      const addresses = Array.from({ length: 8 }, () => (random.oneIn(2) ? random.below(0x2000) : Number(random.u64())))
      return { extension: '.elf', bytes: () => bytes, check: () => checkElf(bytes, addresses) }
    },
  }
}

function checkElf(bytes: Uint8Array, addresses: readonly number[]): void {
  const file = new CountingFile(bytes)
  const elf = readElf(file.read)
  if (elf === undefined) return
  if (elf.buildId !== undefined && !/^(?:[0-9a-f]{2}){1,64}$/.test(elf.buildId)) throw new Failure('no build id')
  const link = debugLink(elf, file.read)
  if (link !== undefined && !/^[^/\0]+$/.test(link.name)) throw new Failure('the name of a debug file')
  const symbols = FunctionSymbols.of(elf, file.read)
  // A symbol takes 16 bytes at least, and each table is read once.
  if (symbols.size > bytes.length / 8) throw new Failure(`${symbols.size} symbols in ${bytes.length} bytes`)
  for (const address of addresses) {
    const name = symbols.nameAt(address)
    if (name !== undefined && (name === '' || name.length > MAX_NAME_BYTES)) throw new Failure('the name of a function')
  }
  file.budget.check()
}

const RULES = [
  '# comment\nleak:__nss_module_allocate\nleak:^foo*bar$\nleak:lib*.so\n',
  '{\n  name\n  Memcheck:Leak\n  match-leak-kinds: possible\n  fun:malloc\n  ...\n  obj:/usr/lib/*\n  src:a?c.c:12\n}\n',
  '{\n  other\n  Memcheck:Addr4\n  fun:*\n}\nleak:*\n',
].map(text)
const RULE_TOKENS = ['{', '}', '\n', '...\n', 'fun:', 'obj:', 'src:', 'leak:', '*', '?', '^', '$', '#', '*a*a*a*a*b']

const FRAMES: readonly SuppressibleFrame[] = [
  { function: 'malloc', module: '/usr/lib/libc.so.6' },
  { function: 'foo(int, std::vector<int>)', file: '/src/abc.c', module: '/opt/app' },
  {},
  { function: 'a'.repeat(300), file: 'a'.repeat(300) },
]

function suppressionTarget(): Target {
  const mutator = new Mutator(RULES, RULE_TOKENS.map(text))
  return {
    name: 'suppressions',
    weight: 2,
    make(random) {
      const bytes = mutator.make(random)
      const stacks = Array.from({ length: 4 }, () =>
        Array.from({ length: random.length(40) }, () => random.pick(FRAMES)),
      )
      return { extension: '.supp', bytes: () => bytes, check: () => checkSuppressions(bytes, stacks) }
    },
  }
}

/** Only a RangeError with a short message may say that a file of options is of no use. */
function expectRangeError<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch (error) {
    if (error instanceof RangeError && error.message.length < 2000) return undefined
    throw error
  }
}

function checkSuppressions(bytes: Uint8Array, stacks: readonly (readonly SuppressibleFrame[])[]): void {
  const budget = new Budget()
  budget.add(bytes)
  const rules = expectRangeError(() => parseSuppressions(Buffer.from(bytes).toString()))
  for (const rule of rules ?? []) {
    for (const stack of stacks) {
      const holds = rule.matches(stack)
      // Whether a rule holds depends on nothing that came before.
      if (rule.matches(stack.slice()) !== holds) throw new Failure(`the rule ${rule.name} holds at times`)
    }
  }
  budget.check()
}

const BUDGETS = [
  '{"budgets":[{"max":{"peak":"200M","leaked":0}},{"at":"parse*","grow":{"peak":"5%+64K"}}]}',
  '{"$schema":"x","budgets":[{"each":"*","max":{"leaked":"1G","temporary":"20%"}}]}',
].map(text)
const BUDGET_TOKENS = [
  '"max":',
  '"grow":',
  '"at":"',
  '"each":',
  '"peak"',
  '"__proto__"',
  '5%',
  '+',
  '{',
  '}',
  '[',
  ',',
  '1e400',
]

function budgetTarget(): Target {
  const mutator = new Mutator(BUDGETS, BUDGET_TOKENS.map(text))
  return {
    name: 'budgets',
    weight: 2,
    make(random: Random) {
      const bytes = mutator.make(random)
      return { extension: '.json', bytes: () => bytes, check: () => checkBudgets(bytes) }
    },
  }
}

function checkBudgets(bytes: Uint8Array): void {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return
  }
  for (const { budgets } of expectRangeError(() => budgetsOf(value)) ?? [])
    for (const { limit } of budgets)
      if (limit.amount < 0n || limit.percent < 0n) throw new Failure(`the limit ${limit.text} is negative`)
}

/** What commands read besides traces: the modules that stacks name, and the files of options. */
export const INPUT_TARGETS: readonly Target[] = [elfTarget(), suppressionTarget(), budgetTarget()]
