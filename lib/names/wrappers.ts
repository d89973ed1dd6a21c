/*
 * Functions that allocate for their callers, as data. Names are compared without template arguments, parameters, inline
 * namespaces and the suffixes of compilers. A name that ends in * stands for all names that begin so.
 */

/** The functions of one language or library that a row does not begin with. */
export interface WrapperList {
  readonly language: string
  /** Functions that do nothing but allocate. Functions without a name that they call belong to them. */
  readonly allocators: readonly string[]
  /** Functions of the standard library, which allocate for what the program does with them. */
  readonly library?: readonly string[]
  /** Parts of the paths of the library's source files: what was inlined from them has short names. */
  readonly files?: readonly string[]
}

/** Names that are separated by commas. */
function names(text: string): string[] {
  return text.trim().split(/,\s+/)
}

/** See `WrapperList`. */
export const WRAPPERS: readonly WrapperList[] = [
  {
    language: 'C',
    allocators: names(`
      malloc, calloc, realloc, reallocarray, recallocarray, memalign, aligned_alloc, valloc, posix_memalign, pvalloc,
      strdup, strndup, wcsdup, asprintf, vasprintf, __strdup, __strndup, __libc_malloc, __libc_calloc, __libc_realloc,
      __libc_memalign, __libc_reallocarray, __libc_valloc, __libc_pvalloc, __posix_memalign, __asprintf,
      __vasprintf_internal, ___asprintf, xmalloc, xcalloc, xrealloc, xzalloc, xmallocz, xnmalloc, xcharalloc, xmemdup,
      xstrdup, xstrndup, xmemdupz, x2realloc, x2nrealloc, do_xmalloc, do_xmallocz, xreallocarray, ximalloc,
      safe_malloc, safe_calloc, safe_realloc, emalloc, ecalloc, erealloc, zmalloc, zcalloc, zrealloc, ztrymalloc,
      ztrycalloc, ztryrealloc, zmalloc_usable, ztrymalloc_usable, zstrdup, ztrymalloc_usable_internal,
      ztryrealloc_usable_internal, ztrycalloc_usable_internal, je_*, tc_malloc*, tc_calloc*, tc_realloc*, tc_new*,
      mi_malloc*, mi_calloc*, mi_realloc*, mi_zalloc*, mi_heap_malloc*, mi_new*, CRYPTO_malloc, CRYPTO_zalloc,
      CRYPTO_realloc, CRYPTO_clear_realloc, CRYPTO_memdup, CRYPTO_strdup, CRYPTO_strndup, CRYPTO_secure_malloc,
      sqlite3MemMalloc, sqlite3MemRealloc, sqlite3Malloc, sqlite3MallocZero, sqlite3Realloc, sqlite3DbMalloc*,
      sqlite3DbRealloc*, sqlite3_malloc, sqlite3_malloc64, sqlite3_realloc, sqlite3_realloc64, mallocWithAlarm,
      dbMallocRawFinish, palloc*, repalloc*, pstrdup, pnstrdup, psprintf, pg_malloc*, pg_strdup, MemoryContextAlloc*,
      MemoryContextStrdup, AllocSetAlloc*, AllocSetRealloc, GenerationAlloc*, SlabAlloc*`),
  },
  {
    // PHP, Ruby, Lua, Tcl and Guile.
    language: 'Interpreters',
    allocators: names(`
      __zend_malloc, __zend_calloc, __zend_realloc, __zend_strdup, _emalloc*, _ecalloc, _erealloc*, _estrdup,
      _estrndup, _femalloc*, _fecalloc, _ferealloc*, _safe_emalloc, _safe_erealloc, _safe_femalloc, _safe_ferealloc,
      _safe_malloc, _safe_realloc, zend_strndup, zend_mm_*, _zend_mm_*, smart_str_erealloc, smart_str_ferealloc,
      smart_str_realloc, smart_str_frealloc, ruby_xmalloc*, ruby_xcalloc*, ruby_xrealloc*, ruby_sized_xrealloc*,
      ruby_strdup, ruby_mimmalloc, objspace_xmalloc*, objspace_xcalloc, objspace_xrealloc, l_alloc, luaM_*, TclpAlloc,
      TclpRealloc, Tcl_Alloc, Tcl_Realloc, Tcl_AttemptAlloc, Tcl_AttemptRealloc, Tcl_DbCkalloc, Tcl_AttemptDbCkalloc,
      TclAllocateFreeObjects, TclThreadAllocObj, TclStackAlloc, TclStackRealloc, scm_malloc*, scm_calloc*,
      scm_realloc*, scm_strdup*, scm_strndup*, scm_gc_malloc*, scm_gc_calloc*, scm_gc_realloc*, scm_gc_str*`),
  },
  {
    // Of the kernel's tracepoints, stacks begin with the functions that report the event.
    language: 'Linux kernel',
    allocators: names(`
      trace_event_raw_event_*, trace_event_buffer_*, perf_trace_*, __traceiter_*, kmalloc*, __kmalloc*, kzalloc*,
      kcalloc*, krealloc*, kvmalloc*, __kvmalloc*, kvrealloc*, kstrdup*, kmemdup*, kmem_cache_alloc*, kmem_cache_zalloc,
      __slab_alloc*, ___slab_alloc*, slab_alloc_node, new_slab*, allocate_slab, alloc_slab_page, mempool_alloc*,
      mempool_kmalloc, __alloc_pages*, alloc_pages*, __alloc_frozen_pages*, alloc_frozen_pages*, alloc_page_interleave,
      get_page_from_freelist, __get_free_pages*, get_free_pages*, get_zeroed_page*, folio_alloc*, __folio_alloc*,
      vma_alloc_folio*, vmalloc*, __vmalloc*`),
  },
  {
    // Files, folders, threads, time, locales and modules. None of these calls the program while it allocates.
    language: 'C library',
    allocators: names(`
      _IO_*, fopen, fopen64, __fopen_internal, __fopen_maybe_mmap, fdopen, freopen, freopen64, fmemopen,
      open_memstream, __open_memstream, popen, setvbuf, fread, fread_unlocked, fwrite, fwrite_unlocked, fgetc,
      fgets, fgets_unlocked, getc, getchar, getline, getdelim, __getdelim, ungetc, fputc, fputs, fputs_unlocked,
      putc, putchar, puts, printf, fprintf, vprintf, vfprintf, dprintf, vdprintf, __printf*, __fprintf*, __vprintf*,
      __vfprintf*, outstring_func, scanf, fscanf, vfscanf, __isoc99_*, __vfscanf_internal, perror, opendir,
      __opendir*, opendir_tail, fdopendir, __fdopendir, __alloc_dir, getcwd, __getcwd, get_current_dir_name,
      realpath, realpath_stk, __realpath*, scandir*, __scandir*, tempnam, tmpfile, tmpfile64, pthread_create,
      __pthread_create*, __pthread_getattr_np, allocate_stack, allocate_dtv, _dl_allocate_tls*, _dl_new_object,
      _dl_map_object*, _dl_check_map_versions, add_to_global*, __tls_get_addr, allocate_and_init, tls_get_addr_tail,
      tzset,
      tzset_internal, __tzset, __tzset_parse_tz, __tzstring, __tzfile_read, __tzfile_default, __tz_convert,
      localtime, localtime_r, __localtime64*, mktime, timelocal, setlocale, newlocale, __newlocale, _nl_*,
      read_alias_file, extend_alias_table, new_composite_name, setenv, putenv, __setenv, __add_to_environ, atexit,
      on_exit, __cxa_atexit, __internal_atexit, __new_exitfn, iconv_open, __gconv_*, textdomain, bindtextdomain,
      set_binding_values`),
  },
  {
    language: 'C++',
    allocators: names(`
      operator new, operator new[], std::allocator, std::allocator::*, std::allocator_traits::*,
      std::__new_allocator::*, std::__allocate*, std::__libcpp_allocate*, std::__libcpp_operator_new*, std::pmr::*,
      __gnu_cxx::*, __cxa_allocate_exception, __cxa_allocate_dependent_exception, __cxa_get_globals, __cxa_throw`),
    library: names('std::*, __gnu_debug::*, __invoke, __invoke_impl'),
    files: names('/include/c++/, /include/g++-'),
  },
  {
    language: 'Rust',
    allocators: names(`
      __rust_alloc, __rust_alloc_zeroed, __rust_realloc, __rdl_*, __rg_*, alloc::alloc::*, __rustc::*,
      alloc::raw_vec::*, hashbrown::raw::*, std::alloc::*, std::sys::alloc::*`),
    library: names(`
      alloc::borrow::*, alloc::boxed::*, alloc::collections::*, alloc::ffi::*, alloc::fmt::*, alloc::rc::*,
      alloc::slice::*, alloc::str::*, alloc::string::*, alloc::sync::*, alloc::vec::*, alloc::vec, core::array::*,
      core::clone::*, core::convert::*, core::fmt::*, core::iter::*, core::ops::*, core::option::*, core::ptr::*,
      core::result::*, core::slice::*, core::str::*, hashbrown::*`),
    files: names('/rustc/, /rustlib/src/rust/library/, library/alloc/src/, library/core/src/, library/std/src/'),
  },
  {
    // NumPy's arrays are objects of CPython.
    language: 'CPython',
    allocators: names(`
      PyMem_*, _PyMem_*, PyObject_Malloc, PyObject_Calloc, PyObject_Realloc, _PyObject_Malloc, _PyObject_Calloc,
      _PyObject_Realloc, _PyObject_Alloc*, _PyObject_Arena*, pymalloc_alloc, pymalloc_realloc, new_arena,
      allocate_from_new_pool, _PyObject_New, _PyObject_NewVar, _PyObject_GC_*, _PyObject_GC*, PyType_GenericAlloc,
      _PyType_AllocNoTrack, gc_alloc, PyDataMem_*, default_malloc, default_calloc, default_realloc, npy_alloc_cache*,
      PyArray_New*, PyArray_Empty*, PyArray_Zeros*`),
  },
  {
    language: 'Perl',
    allocators: names(
      'Perl_safesys*, Perl_more_bodies, Perl_more_sv, Perl_sv_add_arena, S_more_sv, S_new_SV, Perl_malloc',
    ),
  },
  {
    language: 'GLib',
    allocators: names(`
      g_malloc*, g_realloc*, g_try_malloc*, g_try_realloc*, g_slice_*, g_aligned_alloc*, g_memdup, g_memdup2,
      g_strdup*, g_vasprintf, g_strndup, g_type_create_instance, magazine_chain_*, slab_allocator_*, thread_memory_*,
      allocator_memalign, standard_malloc, standard_calloc, standard_realloc`),
  },
  {
    // The virtual machine of OpenJDK.
    language: 'HotSpot',
    allocators: names(`
      os::malloc, os::realloc, os::strdup, os::strdup_check_oom, NMTPreInit*, AllocateHeap, ReallocateHeap,
      CHeapObjBase::*, ChunkPool::*, Arena::grow, Arena::Arena, Arena::Amalloc*, Arena::Arealloc,
      resource_allocate_bytes, resource_reallocate_bytes, ArrayAllocator::*, MallocArrayAllocator::*`),
  },
  {
    language: 'Node',
    allocators: names(`
      node::Malloc, node::Calloc, node::Realloc, node::UncheckedMalloc, node::UncheckedCalloc, node::UncheckedRealloc,
      node::MaybeStackBuffer::*, node::NodeArrayBufferAllocator::*, uv__malloc, uv__calloc, uv__realloc, uv__reallocf,
      uv__strdup, v8::internal::Malloced::*, v8::internal::AllocWithRetry, v8::internal::AlignedAlloc*,
      v8::internal::NewArray, v8::internal::StrDup, v8::internal::StrNDup, v8::internal::AccountingAllocator::*,
      v8::internal::Zone::*, v8::internal::FreeStoreAllocationPolicy::*, v8::base::Malloc, v8::base::Calloc,
      v8::base::Realloc, v8::base::AlignedAlloc, v8::base::AllocateAtLeast, v8::base::SmallVector::*`),
  },
  {
    // What calls C from Go, and C's allocator for it.
    language: 'Go',
    allocators: names(`
      runtime.asmcgocall*, runtime.cgocall, _Cfunc__Cmalloc, _Cfunc__CMalloc, _Cfunc_CString, _Cfunc_CBytes,
      _cgo_cmalloc*, _cgo_try_pthread_create, _cgo_sys_thread_start, _cgo_sys_thread_create`),
  },
  {
    // Ada, Fortran, Haskell, Nim, OCaml, R and Zig.
    language: 'Other languages',
    allocators: names(`
      __gnat_malloc, __gnat_realloc, system__secondary_stack__*, _gfortran_*, stgMallocBytes, stgCallocBytes,
      stgReallocBytes, caml_stat_*, caml_alloc*, caml_ba_alloc*, caml_ba_create, alloc_custom_gen, alloc_generic_table,
      realloc_generic_table, expand_heap, R_alloc, R_chk_calloc, R_chk_realloc, Rf_alloc*`),
    library: names('ada__*, camlStdlib__*, array_list.*, hash_map.*, array_hash_map.*'),
    files: names(`
      /adainclude/, /nim/lib/, /toolchains/nim-, /lib/std/heap.zig, /lib/std/heap/, /lib/std/mem/Allocator.zig,
      /lib/std/array_list.zig, /lib/std/hash_map.zig, /lib/std/array_hash_map.zig, /lib/std/fmt.zig, /lib/std/Io/`),
  },
]
