import { ANONYMOUS, nameParts, type NamePart } from './brackets.js'

/** Longer names are not taken apart. */
const LONGEST = 65_536
/** The maximum number of nested pointers to functions in which a name is searched. */
const POINTERS = 8
/** The depth to which groups at the start of a name are shown. */
const DEPTH = 2

const STRING =
  /\bstd::(?:__\w+::)?basic_string<char, ?std::(?:__\w+::)?char_traits<char>, ?std::(?:__\w+::)?allocator<char> ?>/g
const INLINE_NAMESPACE = /(?<=\w::)(?:__cxx11|__cxx1998|__1|__2|__ndk1|_V2)::/g
/** Escapes of Rust's older symbols: `Vec$LT$T$GT$`. */
const ESCAPE = /\$(?:LT|GT|LP|RP|RF|BP|C|u[0-9a-f]{2,6})\$/g
const ESCAPED: Readonly<Record<string, string>> = { LT: '<', GT: '>', LP: '(', RP: ')', RF: '&', BP: '*', C: ',' }
/** The text after the parameters of a function. */
const QUALIFIERS = /^(?:\s*(?:const|volatile|noexcept|&&?))+/
/** The part of a function's return type before its name: a pointer, a reference, or `X::*` to a member. */
const POINTER = /^(?:(?:[\w$:]|<[^<>()]*>)*::)?[*&]+\s*(?:(?:const|volatile)\b\s*)*/
/**
 * A suffix that compilers and linkers append to a name, and the number of characters in which they are. Several at once
 * would take exponential time, because a version may contain what looks like another suffix.
 */
const SUFFIX = /(?:\.(?:part|constprop|isra|cold|llvm|lto_priv|localalias)(?:\.\d+)?|@@?[\w.]+|::h[0-9a-f]{16})$/
const SUFFIXED = 256

/**
 * The name of a function without return type, parameters and template arguments: `std::map<...>::operator[]`,
 * `main::{lambda(...)#1}::operator()`, `<Vec<...> as Clone>::clone`. Inline namespaces are left out, and the default
 * `std::basic_string` is `std::string`. A name whose brackets are not closed stays as it is.
 */
export function shortName(name: string): string {
  if (name.length > LONGEST) return name
  const parts = declared(nameParts(unescaped(withoutSuffixes(name)).replace(STRING, 'std::string')))
  if (parts === undefined) return name
  const text = ownName(withoutParameters(parts.filter((part) => !isNote(part))))
    .map(shortPart)
    .join('')
    .replace(INLINE_NAMESPACE, '')
    .trim()
  return text === '' ? name : text
}

function withoutSuffixes(name: string): string {
  const before = name.slice(0, -SUFFIXED)
  for (let end = name.slice(-SUFFIXED); ;) {
    const { length } = end
    end = end.replace(SUFFIX, '')
    if (end.length === length) return before + end
  }
}

/** The name by which a function is looked up in lists: without arguments, and without the trait of Rust's methods. */
export function plainName(name: string): string {
  const module = rustModule(name)
  if (module !== undefined) return module
  const short = shortName(name)
    .replaceAll('<...>', '')
    .replace(/^__GI_(?:_(?=__))?/, '')
  const trait = /^<(?:[&*]|(?:mut|const|dyn) )*([^<>\s&*][^<>\s]*)(?: as [^<>]*)?>(?=::)/.exec(short)
  return (trait === null ? short : `${trait[1]}${short.slice(trait[0].length)}`).trimEnd()
}

/**
 * The crate and the modules in a symbol of Rust's newer form that was not demangled: `alloc::raw_vec::` of
 * `_RNvMs4_NtCslNYArtu3iFV_5alloc7raw_vecNtB5_11RawVecInner11finish_grow`; undefined for others.
 */
function rustModule(name: string): string | undefined {
  const crate = name.startsWith('_R') ? /Cs[0-9A-Za-z]{1,11}_(?=[1-9])/.exec(name) : null
  if (crate === null) return undefined
  const words: string[] = []
  const word = /([1-9]\d?)_?/y
  for (let at = crate.index + crate[0].length; ;) {
    word.lastIndex = at
    const [whole, digits] = word.exec(name) ?? []
    if (whole === undefined) return `${words.join('::')}::`
    at += whole.length + Number(digits)
    words.push(name.slice(at - Number(digits), at))
  }
}

/**
 * The parts of the name and the parameters where a function returns a pointer to a function, or a reference to an
 * array: these are inside of the type, as in `int (*get(char))(int)`. Other parts stay as they are.
 */
function declared(parts: readonly NamePart[] | undefined): readonly NamePart[] | undefined {
  let found = parts
  for (let i = 0; i < POINTERS && found !== undefined; i++) {
    const at = found.findIndex(({ kind, start, text }) => kind === '(' && start === true && text !== ANONYMOUS)
    // The target of the pointer has parameters, or the length of an array.
    const rest = found.slice(at + 1).filter((part) => !isNote(part))
    const isType = rest.every(
      ({ kind, text }) => kind === '(' || kind === '[' || ['', 'const', 'noexcept'].includes(text.trim()),
    )
    if (at < 0 || !isType || !rest.some(({ kind }) => kind === '(' || kind === '[')) return found
    const inside = found[at].text.slice(1, -1)
    const name = inside.replace(POINTER, '')
    const next: readonly NamePart[] | undefined = name === inside ? undefined : nameParts(name)
    if (next?.some(({ kind }) => kind === '(') !== true) return found
    found = next
  }
  return found
}

function unescaped(name: string): string {
  if (name.search(ESCAPE) < 0) return name
  const text = name.replaceAll('..', '::').replace(/(?<=^|::)_(?=\$LT\$)/g, '')
  return text.replace(ESCAPE, (one) => {
    const code = one.slice(1, -1)
    const char = Number.parseInt(code.slice(1), 16)
    return ESCAPED[code] ?? (char <= 0x10ffff ? String.fromCodePoint(char) : one)
  })
}

/** The parts without the parameters of the function and of those around it, and without what follows parameters. */
function withoutParameters(parts: readonly NamePart[]): { parts: NamePart[]; isFunction: boolean } {
  const kept: NamePart[] = []
  let isFunction = false
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]
    const next = parts[i + 1]
    if (isParameters(part, next, i + 2 < parts.length) && kept.length > 0) {
      isFunction = true
      if (next?.kind === 'text') {
        const text = next.text.replace(QUALIFIERS, '').trimEnd()
        if (text !== '') kept.push({ kind: 'text', text })
        i++
      }
    } else kept.push(part)
  }
  return { parts: kept, isFunction }
}

/** Whether a group has the parameters of a function, from what follows it. `(Parser.java:12)` is a place. */
function isParameters({ kind, text, start }: NamePart, next: NamePart | undefined, isMore: boolean): boolean {
  if (kind !== '(' || start === true || text === ANONYMOUS || /:\d+\)$/.test(text)) return false
  if (next === undefined) return true
  if (next.kind !== 'text') return false
  return /^(?:::|\s*(?:const|volatile|noexcept|&))/.test(next.text) || (!isMore && next.text.trim() === '')
}

/** A note of the compiler: `[abi:cxx11]`, `[clone .cold]`. */
function isNote({ kind, text }: NamePart): boolean {
  return kind === '[' && /^\[(?:abi:|clone )/.test(text)
}

/** The parts without the return type of a function, which is present only before parameters. */
function ownName({ parts, isFunction }: { parts: NamePart[]; isFunction: boolean }): NamePart[] {
  if (!isFunction) return parts
  // The name of a conversion operator contains spaces.
  const operator = parts.findIndex(({ kind }) => kind === 'operator')
  for (let i = operator < 0 ? parts.length - 1 : operator - 1; i >= 0; i--) {
    const { kind, text } = parts[i]
    const space = kind === 'text' ? text.lastIndexOf(' ') : -1
    if (space < 0) continue
    const rest = text.slice(space + 1).replace(/^[*&]+/, '')
    return [...(rest === '' ? [] : [{ kind: 'text' as const, text: rest }]), ...parts.slice(i + 1)]
  }
  return parts
}

function shortPart({ kind, text, start }: NamePart): string {
  if (kind === '{') return inner(text, DEPTH)
  if (kind !== '<') return text
  const isName = start === true && /^<(?:lambda|unnamed|anonymous)|^<[^<>()]*>$| as /.test(text)
  return isName ? inner(text, DEPTH) : collapsed(text)
}

/** A group whose own groups are shortened. */
function inner(text: string, depth: number): string {
  const parts = nameParts(text.slice(1, -1))
  if (parts === undefined) return collapsed(text)
  const short = parts.map((part) => {
    if (part.kind === 'text' || part.kind === 'operator') return part.text
    if (part.kind === '{' || (part.kind === '<' && part.start === true))
      return depth > 0 ? inner(part.text, depth - 1) : collapsed(part.text)
    return part.text === ANONYMOUS ? part.text : collapsed(part.text)
  })
  return `${text[0]}${short.join('')}${text.at(-1)}`
}

/** `<...>` for a group that is not empty. */
function collapsed(text: string): string {
  return text.length <= 2 ? text : `${text[0]}...${text.at(-1)}`
}
