import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nameParts, withoutDepth } from '../../lib/names/brackets.js'
import { plainName, shortName } from '../../lib/names/short-name.js'
import { runs } from '../support/runs.js'
import { stopwatch } from '../support/stopwatch.js'

const STRING = 'std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >'

describe('the short name of a function', () => {
  test.each([
    ['main', 'main'],
    ['operator new(unsigned long)', 'operator new'],
    ['operator new[](unsigned long, std::nothrow_t const&)', 'operator new[]'],
    ['operator delete[](void*)', 'operator delete[]'],
    ['malloc@@GLIBC_2.2.5', 'malloc'],
    ['resize.constprop.0', 'resize'],
    [`${STRING}::_M_construct(unsigned long, char)`, 'std::string::_M_construct'],
    [
      'std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char>>::append(char)',
      'std::string::append',
    ],
    [
      `std::map<${STRING}, std::vector<int>, std::less<${STRING} > >::operator[](${STRING}&&)`,
      'std::map<...>::operator[]',
    ],
    [
      'void std::vector<int, std::allocator<int> >::_M_realloc_insert<int const&>(int*, int const&)',
      'std::vector<...>::_M_realloc_insert<...>',
    ],
    ['std::unique_ptr<int> std::make_unique<int, int>(int&&)', 'std::make_unique<...>'],
    ['std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)', 'std::operator<< <...>'],
    ['std::operator<<<char>(std::ostream&)', 'std::operator<<<...>'],
    ['bool operator< <int>(A<int> const&, A<int> const&)', 'operator< <...>'],
    ['bool operator<<int>(A<int> const&)', 'operator<<...>'],
    ['A::operator->() const', 'A::operator->'],
    ['A::operator->*(int) const', 'A::operator->*'],
    ['A<B>::operator()(int)', 'A<...>::operator()'],
    ['A::operator std::vector<int, std::allocator<int> >() const', 'A::operator std::vector<...>'],
    ['A::operator unsigned long() const', 'A::operator unsigned long'],
    ['auto operator<=><int>(int)', 'operator<=><...>'],
    ['operator"" _km(long double)', 'operator"" _km'],
    ['f<&A::operator> >(int)', 'f<...>'],
    ['f<(1>>2)>(int)', 'f<...>'],
    ['f<(((A<1>)0)<(1)), (a<b)>(int)', 'f<...>'],
    ['void f<void (*)(int)>(void (*)(int))', 'f<...>'],
    ['void (*f(int))(char)', 'f'],
    ['int (*app::get<int>(char) const)(int)', 'app::get<...>'],
    ['int (&app::array<int>()) [3]', 'app::array<...>'],
    ['void (app::A<int>::*app::member<int>(int))(char)', 'app::member<...>'],
    ['void (*(*f<int>(int))(int))(char) [clone .cold]', 'f<...>'],
    ['int (*(anonymous namespace)::get())(int)', '(anonymous namespace)::get'],
    ['void (*app::A::operator()<int>(int))(int)', 'app::A::operator()<...>'],
    // No functions.
    ['void (*pointer)(int)', '(*pointer)'],
    ['bool (*)(int)', '(*)'],
    ['(anonymous namespace)::parse(int)', '(anonymous namespace)::parse'],
    ['void (anonymous namespace)::f<int>(int)', '(anonymous namespace)::f<...>'],
    ['main(int, char**)::{lambda(int)#1}::operator()(int) const', 'main::{lambda(...)#1}::operator()'],
    ['main::{lambda()#2}::operator()() const', 'main::{lambda()#2}::operator()'],
    ['main(int, char**)::<lambda(int)>', 'main::<lambda(...)>'],
    ['thread<main(int, char**)::<lambda()> >', 'thread<...>'],
    ['std::filesystem::__cxx11::path::path(int)', 'std::filesystem::path::path'],
    ['f[abi:cxx11](int) [clone .cold]', 'f'],
    [
      '<alloc::vec::Vec<T,A> as core::clone::Clone>::clone::h0123456789abcdef',
      '<alloc::vec::Vec<...> as core::clone::Clone>::clone',
    ],
    ['alloc::raw_vec::RawVec$LT$T$C$A$GT$::grow_one::h4df0ae074c9fd30c', 'alloc::raw_vec::RawVec<...>::grow_one'],
    [
      '_$LT$alloc..alloc..Global$u20$as$u20$core..alloc..Allocator$GT$::allocate::hd3d5a39a7d9f4181',
      '<alloc::alloc::Global as core::alloc::Allocator>::allocate',
    ],
    ['app::main::{{closure}}', 'app::main::{{closure}}'],
    ['<module>', '<module>'],
    ['com.foo.Bar.baz(Bar.java:12)', 'com.foo.Bar.baz(Bar.java:12)'],
    ['-[NSObject init]', '-[NSObject init]'],
    ['f(int', 'f(int'],
    ['f<int', 'f<int'],
    ['a < b', 'a < b'],
    ['', ''],
  ])('%s', (name, short) => {
    expect(shortName(name)).toBe(short)
    expect(shortName(short)).toBe(short)
  })

  test('is looked up without arguments, and by the type of a method', () => {
    expect(plainName(`std::__new_allocator<${STRING} >::allocate(unsigned long, void const*)`)).toBe(
      'std::__new_allocator::allocate',
    )
    expect(plainName('<alloc::vec::Vec<T> as core::clone::Clone>::clone')).toBe('alloc::vec::Vec::clone')
    expect(plainName('__GI___strdup')).toBe('__strdup')
    expect(plainName('_RNvMs4_NtCslNYArtu3iFV_5alloc7raw_vecNtB5_11RawVecInner11finish_growCsduwmD7cSIQq_5gimli')).toBe(
      'alloc::raw_vec::',
    )
  })

  test('of many pointers to functions takes no time', () => {
    const time = stopwatch()
    expect(plainName(`${'int (*'.repeat(9000)}f()${')()'.repeat(9000)}`)).toContain('f')
    plainName(`int (${'a<b>::'.repeat(10_000)}*f())()`)
    plainName(`int (*f())${'()'.repeat(30_000)}`)
    plainName(`${' '.repeat(60_000)}operator`)
    plainName(`<${'&&'.repeat(30_000)}dyn `)
    expect(time()).toBeLessThan(1000)
  })

  test('of suffixes without end takes no time', () => {
    const time = stopwatch()
    // The version of a symbol may have what looks like another suffix.
    for (const unit of ['.part', '@a', '::h0123456789abcdef', '@x.part'])
      expect(shortName(`f${unit.repeat(60_000 / unit.length)}!`)).toContain('f')
    expect(plainName(`_R${'Cs'.repeat(500_000)}`)).toContain('_R')
    expect(time()).toBeLessThan(1000)
    for (const end of ['@@GLIBC_2.2.5', '@x.part.0', '.cold@V_1'])
      expect(shortName(`f${'.part.0'.repeat(30)}${end}`)).toBe('f')
  })

  test('of brackets without end takes no time', { tags: ['slow'] }, () => {
    for (const unit of [
      '<',
      '(',
      '{',
      '<(',
      'a<',
      'operator<',
      '()',
      '<>',
      '::<',
      '_R',
      'Cs1_',
      '$LT$',
      ' const',
      '*&',
      ' (*',
    ])
      for (const end of ['', '>', ')', '()']) {
        const name = unit.repeat(60_000 / unit.length) + end
        const time = stopwatch()
        plainName(name)
        expect(time()).toBeLessThan(1000)
      }
  })
})

/** Random names of C++ and Rust functions, and of types. */
const { cpp: names } = fc.letrec<{ type: string; scope: string; part: string; cpp: string }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('int', 'char const*', 'unsigned long&', '(1>>2)', 'A::B', STRING),
    tie('scope'),
    fc.tuple(tie('type'), tie('type')).map(([a, b]) => `${a} (*)(${b})`),
  ),
  part: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('std', 'app', 'Vec', '__cxx11', '(anonymous namespace)', '{lambda()#1}', '{{closure}}', '~A'),
    fc
      .tuple(fc.constantFrom('vector', 'map', 'f'), fc.array(tie('type'), { minLength: 1, maxLength: 3 }))
      .map(([name, types]) => `${name}<${types.join(', ')} >`),
    tie('type').map((type) => `{lambda(${type})#1}`),
    fc.tuple(tie('type'), tie('type')).map(([a, b]) => `f(${a}, ${b})`),
  ),
  scope: fc.array(tie('part'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('::')),
  cpp: fc
    .record({
      result: fc.option(tie('type')),
      scope: tie('scope'),
      name: fc.constantFrom(
        'f',
        'operator<',
        'operator<<',
        'operator->',
        'operator()',
        'operator[]',
        'operator new',
        'operator>>=',
        'operator std::vector<int>',
      ),
      types: fc.array(tie('type'), { maxLength: 2 }),
      parameters: fc.array(tie('type'), { maxLength: 2 }),
      end: fc.constantFrom('', ' const', ' [clone .cold]', '.part.0'),
    })
    .map(({ result, scope, name, types, parameters, end }) => {
      const args = types.length === 0 ? '' : `${/[<>]$/.test(name) ? ' ' : ''}<${types.join(', ')} >`
      return `${result === null ? '' : `${result} `}${scope}::${name}${args}(${parameters.join(', ')})${end}`
    }),
}))

describe('a long name without its deepest groups', () => {
  const name = 'void Map<Key<A<int>, B<int> >, Less<Key<int> > >::find<Key<int> >(Key<int> const&) const'
  test.each([
    [name.length, name],
    [name.length - 1, 'void Map<Key<...>, Less<...> >::find<Key<...> >(Key<...> const&) const'],
    [60, 'void Map<...>::find<...>(...) const'],
    [35, 'void Map<...>::find<...>(...) const'],
  ])('has at most %i characters', (longest, expected) => {
    expect(withoutDepth(name, longest)).toBe(expected)
    expect(shortName(expected)).toBe(shortName(name))
  })

  test('does not exist where too much is outside of groups, or a group is not closed', () => {
    expect(withoutDepth(name, 34)).toBeUndefined()
    expect(withoutDepth('a'.repeat(20), 10)).toBeUndefined()
    expect(withoutDepth('f<int', 4)).toBeUndefined()
    expect(withoutDepth('f(int>', 5)).toBeUndefined()
  })

  test('keeps operators', () => {
    const name = 'A<B>::operator()(int, A<B<C<D> > >)'
    expect(withoutDepth(name, 29)).toBe('A<B>::operator()(int, A<...>)')
    expect(withoutDepth(name, 28)).toBe('A<...>::operator()(...)')
    expect(withoutDepth('bool operator< <A<B<C> > >(A<B<C> > const&)', 40)).toBe(
      'bool operator< <A<...> >(A<...> const&)',
    )
  })
})

describe('random names', () => {
  test('have balanced short names, which stay as they are', () => {
    fc.assert(
      fc.property(names, (name) => {
        const short = shortName(name)
        expect(nameParts(short), short).toBeDefined()
        expect(shortName(short)).toBe(short)
        // Nothing is left of a group but its brackets.
        expect(short).not.toMatch(/basic_string</)
      }),
      { numRuns: runs(2000) },
    )
  })

  test('that are long lose their deepest groups, and nothing else', () => {
    fc.assert(
      fc.property(names, fc.integer({ min: 8, max: 200 }), (name, longest) => {
        const text = withoutDepth(name, longest)
        if (text === undefined) return
        expect(text.length).toBeLessThanOrEqual(longest)
        expect(nameParts(text), text).toBeDefined()
        // What is between the groups that were left out is that of the name, in this order.
        let at = 0
        for (const kept of text.split('...')) {
          at = name.indexOf(kept, at)
          expect(at, text).toBeGreaterThanOrEqual(0)
          at += kept.length
        }
      }),
      { numRuns: runs(2000) },
    )
  })

  test('of namespaces without a name are no groups', () => {
    expect(withoutDepth('(anonymous namespace)::f(int, int)', 30)).toBe('(anonymous namespace)::f(...)')
    expect(withoutDepth('(anonymous namespace)::f(int)', 20)).toBeUndefined()
  })

  test('of any characters are parts that make the name', () => {
    const text = fc.string({
      unit: fc.constantFrom(...'<>(){}[]:: ab,-=&*$_', 'operator', 'LT', ' const'),
      maxLength: 60,
    })
    fc.assert(
      fc.property(text, (name) => {
        const parts = nameParts(name)
        if (parts !== undefined) expect(parts.map((part) => part.text).join('')).toBe(name)
        else expect(shortName(name)).toBeDefined()
        expect(shortName(name) === '').toBe(name === '')
      }),
      { numRuns: runs(5000) },
    )
  })
})
