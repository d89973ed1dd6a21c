import { isGlob } from './patterns.js'

/** The functions of C with which valgrind's stacks begin. Recorders that stand in for them leave them out. */
const OF_C = 'malloc calloc realloc reallocarray memalign posix_memalign aligned_alloc valloc pvalloc'.split(' ')

/**
 * The functions of C++, each with its symbol, which valgrind's rules have. They call the functions of C, and are in all
 * stacks.
 */
const SYMBOLS: ReadonlyMap<string, string> = new Map(
  [
    ['operator new', 'w'],
    ['operator new[]', 'a'],
  ].flatMap(([name, letter]) =>
    [
      ['unsigned long', 'm'],
      ['unsigned int', 'j'],
    ].flatMap(([size, code]) =>
      [
        ['', ''],
        [', std::nothrow_t const&', 'RKSt9nothrow_t'],
        [', std::align_val_t', 'St11align_val_t'],
        [', std::align_val_t, std::nothrow_t const&', 'St11align_val_tRKSt9nothrow_t'],
      ].map(([more, codes]) => [`${name}(${size}${more})`, `_Zn${letter}${code}${codes}`] as const),
    ),
  ),
)
const OF_CPP = [...SYMBOLS].flat()
const NAMES: ReadonlySet<string> = new Set([...OF_C, ...OF_CPP])
/** glibc's own names of its functions. */
const INSIDE_GLIBC = /^(?:__GI_)?__libc_/

/** The symbol of a function of C++ that allocates, which has been demangled. */
export function symbolOfAllocator(name: string): string | undefined {
  return SYMBOLS.get(name)
}

/** Whether a function is one that programs call to allocate. */
export function isAllocator(name: string): boolean {
  return NAMES.has(plain(name))
}

/** Whether a pattern of valgrind fits any function that programs call to allocate. */
export function canBeAllocator(pattern: string): boolean {
  return fitsOneOf(pattern, OF_C) || fitsOneOf(pattern, OF_CPP)
}

/**
 * Whether a pattern of valgrind fits the function that the program called to allocate.
 * @param name that function, as the stack has it; undefined if the stack begins with its caller
 */
export function fitsAllocator(pattern: string, name: string | undefined): boolean {
  if (name === undefined) return fitsOneOf(pattern, OF_C)
  const called = plain(name)
  // `operator new[]` jumps to `operator new`, and is in no stack then.
  const others = [called, called.replace(/^operator new\(/, 'operator new[]('), called.replace(/^_Znw/, '_Zna')]
  return others.some((one) => isGlob(pattern, one) || isGlob(pattern, SYMBOLS.get(one) ?? one))
}

function plain(name: string): string {
  return name.replace(INSIDE_GLIBC, '')
}

function fitsOneOf(pattern: string, names: readonly string[]): boolean {
  return names.some((name) => isGlob(pattern, name))
}
