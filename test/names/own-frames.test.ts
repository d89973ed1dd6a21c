import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { OwnFrames } from '../../lib/names/own-frames.js'
import { WRAPPERS } from '../../lib/names/wrappers.js'

/**
 * The innermost frames of stacks that heaptrack recorded of programs in each language, or heapflow's recorder for the
 * last two, and ftrace and perf of the kernel, and the one a row begins with.
 */
const STACKS = JSON.parse(readFileSync(new URL('stacks.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, readonly { own: string; stack: readonly string[] }[]>
>

describe.each(WRAPPERS.map(({ language }) => language))('stacks of %s', (language) => {
  test('begin with a frame of the program', () => {
    const own = new OwnFrames()
    const stacks = STACKS[language] ?? []
    expect(stacks.length).toBeGreaterThan(2)
    for (const { own: frame, stack } of stacks) expect(stack[own.start(stack)]).toBe(frame)
  })

  test('begin with the call of the allocator if all is shown', () => {
    const all = new OwnFrames({ all: true })
    for (const { stack } of STACKS[language] ?? []) expect(all.start(stack)).toBe(0)
  })
})

const start = (...stack: string[]) => new OwnFrames().start(stack)

describe('the frames that are hidden', () => {
  test('are wrappers up to the first other one', () => {
    expect(start('malloc', 'xmalloc', 'load', 'malloc', 'main')).toBe(2)
    expect(start('load', 'malloc', 'main')).toBe(0)
    expect(start('operator new(unsigned long)', 'ns::T::T()', 'main')).toBe(1)
  })

  test('are not all: the outermost one begins the row', () => {
    expect(start('malloc', 'xmalloc')).toBe(1)
    expect(start('malloc')).toBe(0)
    expect(start()).toBe(0)
  })

  test('include those without a name that an allocator called', () => {
    expect(start('in lib.so+0x1', 'g_malloc', 'load')).toBe(2)
    expect(start('in lib.so+0x1', 'in lib.so+0x2', 'in lib.so+0x3', 'in lib.so+0x4', 'g_malloc', 'load')).toBe(0)
    expect(start('operator new(unsigned long)', 'in app+0x2', 'main')).toBe(1)
    // The library's own.
    const libstdcxx = 'in /lib/libstdc++.so.6'
    expect(start(`${libstdcxx}+0x1`, `std::runtime_error::runtime_error() ${libstdcxx}+0x2`, 'load in app+0x1')).toBe(2)
    // An algorithm may have called the program.
    expect(start('in app+0x1', 'void std::for_each<int*>(int*)', 'main')).toBe(0)
  })

  test('include the operators of classes', () => {
    expect(start('app::Pool<int>::operator new(unsigned long) at pool.h:20', 'app::load() at a.cpp:7', 'main')).toBe(1)
    expect(start('app::Node::operator new[](unsigned long, std::nothrow_t const&)', 'app::load()', 'main')).toBe(1)
    expect(start('app::operator new_node(unsigned long)', 'app::load()', 'main')).toBe(0)
  })

  test('include functions of the standard library by their files', () => {
    expect(start('push_back at /usr/include/c++/12/bits/stl_vector.h:1287 inlined', 'main at a.cpp:1')).toBe(1)
  })

  test("do not include the program's functions that have the file of what was inlined", () => {
    const header = '/usr/include/c++/12/bits/new_allocator.h:137'
    expect(start(`main at ${header}`, '__libc_start_call_main')).toBe(0)
    expect(start('malloc', `app::thrower(int) at ${header}`, 'main at a.cpp:1')).toBe(1)
    expect(start(`push_back(int) at ${header} inlined`, 'main at a.cpp:1')).toBe(1)
    expect(start(`operator() at ${header}`, `emplace_back<int> at ${header}`, 'main at a.cpp:1')).toBe(2)
    const rust = '/rustc/1/library/core/src/ops/function.rs:250'
    expect(start(`<fn(&str) as std_detect::Call<(A,)>>::call at ${rust}`, 'app::main at app.rs:1')).toBe(1)
    expect(start(`void std::vector<int>::push_back(int) at ${header}`, 'main at a.cpp:1')).toBe(1)
  })

  test('include functions of the C library that allocate for their callers', () => {
    const libc = 'in /lib/libc.so.6'
    expect(start('_IO_file_doallocate', '_IO_file_overflow@@GLIBC_2.2.5', 'fwrite', 'load', 'main')).toBe(3)
    // Without the symbols of debug information.
    expect(start(`${libc}+0x1`, `${libc}+0x2`, `fopen ${libc}+0x3`, 'load', 'main')).toBe(3)
    expect(start('calloc', 'allocate_dtv', 'pthread_create@@GLIBC_2.34', 'std::thread::thread()', 'main')).toBe(4)
    // The program is called back.
    expect(start('malloc', 'compare', 'qsort', 'main')).toBe(1)
    // A library that is being loaded.
    expect(start('in /lib/libstdc++.so.6+0x1', 'call_init', '_dl_init')).toBe(0)
  })

  test('do not include functions with similar names', () => {
    for (const name of ['malloc_stats_of', 'app::malloc()', 'stdx::f()', 'alloc::Pool::get()', 'core::Engine::run()'])
      expect(start(name, 'main')).toBe(0)
  })

  test('include those that match an expression', () => {
    const hidden = (hide: RegExp[], ...stack: string[]) => new OwnFrames({ hide }).start(stack)
    expect(hidden([/^my_alloc/g], 'malloc', 'my_alloc_a(int) at a.c:1', 'my_alloc_b', 'main')).toBe(3)
    expect(hidden([/libz/], 'in /lib/libz.so+0x1', 'load')).toBe(1)
    expect(hidden([/z$/], `${'x'.repeat(2000)}z`, 'main')).toBe(0)
  })
})
