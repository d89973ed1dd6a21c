import type { Suppression } from './suppression.js'
import { parseSuppressions } from './suppressions.js'

/** The functions that only print to standard output, or only read standard input, by glibc's names. */
const OF_STANDARD_STREAMS = (
  'printf _IO_printf __printf __printf_chk ___printf_chk vprintf _IO_vprintf __vprintf __vprintf_chk ' +
  '___vprintf_chk puts _IO_puts __GI__IO_puts putchar putchar_unlocked scanf __scanf _IO_scanf __isoc99_scanf ' +
  '__isoc23_scanf vscanf __vscanf __isoc99_vscanf __isoc23_vscanf getchar getchar_unlocked gets _IO_gets ' +
  '__gets_chk'
).split(' ')

const block = (name: string, ...frames: readonly string[]) => ['{', name, 'Memcheck:Leak', ...frames, '}'].join('\n')

const POOL = 'emergency pool of libstdc++'
const STREAMS = 'buffer of a standard stream'
/** addr2line writes `__GI_` before it. */
const BUFFER = 'fun:*_IO_file_doallocate'

const RULES = [
  // Memory for exceptions where there is no other. The library has no names for its constructors, so they are what the
  // loader, or the C library for a program that has the library in it, calls.
  'leak:_GLOBAL__sub_I_eh_alloc.cc',
  'leak:_GLOBAL__sub_I__ZN9__gnu_cxx9__freeresEv',
  block(POOL, 'fun:malloc', 'obj:*/libstdc++.so*', 'fun:call_init'),
  block(POOL, 'fun:malloc', 'obj:*/libstdc++.so*', 'fun:call_init.part.0'),
  block(POOL, 'fun:malloc', 'obj:*/libstdc++.so*', 'obj:*/ld-*.so*'),
  // The buffers of standard output and input. fwrite and fputs may be about any file, whose buffer is a leak if it is
  // never closed, unless the streams of C++ call them, which they do for the standard streams alone.
  ...OF_STANDARD_STREAMS.map((name) => block(STREAMS, 'fun:malloc', BUFFER, '...', `fun:${name}`)),
  block(STREAMS, 'fun:malloc', BUFFER, '...', 'obj:*/libc.so*', 'obj:*/libstdc++.so*'),
  block(STREAMS, 'fun:malloc', BUFFER, '...', 'obj:*/libc.so*', 'fun:std::*ostream*'),
  // The table of a thread's storage, which stays with its stack for the next thread, and storage itself.
  'leak:_dl_allocate_tls',
  'leak:__tls_get_addr',
  // What libc++ has for the exceptions of the first thread, and formats of numbers that Fortran's runtime registers.
  'leak:__cxa_get_globals',
  'leak:/libquadmath.so',
]

/**
 * Leaks of programs in C, C++ and Fortran that heaptrack does not suppress, and that no program can avoid: what their
 * libraries, the standard streams and the storage of threads keep until the end.
 */
export const RUNTIME_SUPPRESSIONS: readonly Suppression[] = parseSuppressions(RULES.join('\n'))
