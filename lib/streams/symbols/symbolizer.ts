import { isAbsolute } from 'node:path'
import { ADDRESS_TOOLS, AddressProcess, type AddressTool } from './address-tool.js'
import { isInstalled } from './installed.js'
import type { AddressNamer, Names } from './namer.js'
import { canDemangle } from './demangle.js'
import { fullNames, SymbolFile } from './elf-file.js'
import { findModule, type FoundModule } from './find-module.js'
import { keepNames, keptNames, namesPath } from './kept-names.js'
import type { LoadedModules } from './loaded-modules.js'

/** The number of files whose addresses are named at a time; the one that was used least recently is closed first. */
const MAX_NAMERS = 8
/** The number of cached addresses and modules; beyond it, the cache begins again. */
const MAX_CACHED = 1_000_000
const MAX_MODULES = 65_536
/** Names are kept for later programs if finding them took so many milliseconds. */
const LONG = 100
/** The maximum number of addresses in one query, and so of answers that are held at a time. */
const ASKED = 4096

/** The sources of names. */
export interface SymbolizeOptions {
  /** Folders with separate debug files (`.build-id/xx/yyy.debug`), and with modules by path or name. */
  readonly debugDirs?: readonly string[]
  /** The build ids of modules, in hexadecimal, by their paths in the trace. A file with another build id is refused. */
  readonly buildIds?: Readonly<Record<string, string>>
  /** The tool; `none` reads the symbol tables of modules only. Default: the best one that this machine has. */
  readonly tool?: AddressTool | 'none'
}

/** Options for finding names that no one requested: without waiting for servers, and without guesses. */
interface CautiousOptions {
  /** When the trace was written, in milliseconds since 1970: modules that were changed later have no names. */
  readonly before: number
}

/** A module, and the names that were found in it. */
interface KnownModule {
  /** The file with its names; undefined if there is none. */
  readonly path: string | undefined
  readonly names: Map<bigint, Names>
  /** The file that keeps them for later programs, and the milliseconds that finding those took that it lacks. */
  readonly kept: string | undefined
  lasted: number
}

/** Gives addresses of modules their names. */
export class Symbolizer {
  /** Refusals and faults, in order: at most one sentence for each module. */
  readonly warnings: string[] = []
  /** The modules whose build ids were given, and which were not looked for so far. */
  readonly unused: Set<string>
  private readonly modules = new Map<string, KnownModule>()
  /** The modules by their build ids: several paths may be the same module. */
  private readonly byId = new Map<string, KnownModule>()
  /** The tool that names the addresses of each file. */
  private readonly namers = new Map<string, AddressNamer>()
  /**
   * The files whose own symbols are read: the tool failed, or they have no line tables. There addr2line would name
   * the nearest symbol, however far it is.
   */
  private readonly plain = new Set<string>()
  private readonly unreadable = new Set<string>()
  /** The files that the tool could not read. */
  private readonly failing = new Set<string>()
  /** The full names of functions, by file. */
  private readonly full = new Map<string, ReadonlyMap<string, string>>()
  private readonly abort = new AbortController()
  private readonly tool: AddressTool | undefined
  private cached = 0
  private readonly told = new Set<string>()

  /**
   * @param loaded the trace's data about modules
   * @param cautious if given, modules are not searched elsewhere, and missing or different ones cause no warning; of
   *   those that were changed later, or have another build id, there is one warning each
   */
  constructor(
    private readonly options: SymbolizeOptions,
    private readonly loaded: LoadedModules,
    private readonly cautious?: CautiousOptions,
  ) {
    this.unused = new Set(Object.keys(options.buildIds ?? {}))
    this.tool = options.tool === 'none' ? undefined : (options.tool ?? ADDRESS_TOOLS.find(isInstalled))
  }

  /** The names at offsets in a module, by offset. An empty list is for an address that has no name. */
  async names(module: string, offsets: Iterable<bigint>): Promise<ReadonlyMap<bigint, Names>> {
    if (this.cached > MAX_CACHED || this.modules.size > MAX_MODULES) this.forget()
    const known = this.modules.get(module) ?? (await this.find(module))
    const { path, names } = known
    if (path === undefined) return names
    const missing = [...new Set(offsets)].filter((offset) => !names.has(offset))
    const began = performance.now()
    for (let from = 0; from < missing.length; from += ASKED) {
      const asked = missing.slice(from, from + ASKED)
      const answers = await this.ask(path, asked)
      asked.forEach((offset, i) => names.set(offset, answers[i] ?? []))
      this.cached += asked.length
    }
    known.lasted += performance.now() - began
    return names
  }

  /** Ends all processes. */
  close(): void {
    this.keep()
    this.abort.abort()
    for (const namer of this.namers.values()) namer.close()
    this.namers.clear()
  }

  /** Looks for all modules again. */
  forget(): void {
    this.keep()
    this.modules.clear()
    this.byId.clear()
    this.plain.clear()
    this.full.clear()
    this.cached = 0
  }

  /** Keeps the names that took long to find, unless the tool failed. */
  private keep(): void {
    for (const known of this.modules.values()) {
      const { path = '', names, kept, lasted } = known
      if (kept === undefined || lasted < LONG || this.failing.has(path) || this.unreadable.has(path)) continue
      keepNames(kept, names)
      known.lasted = 0
    }
  }

  private async find(module: string): Promise<KnownModule> {
    const { options, cautious, loaded } = this
    this.unused.delete(module)
    const buildId = options.buildIds?.[module]?.toLowerCase() ?? loaded.buildId(module)
    const wanted = { path: module, buildId, loaded: loaded.of(module) }
    const places = {
      folders: options.debugDirs ?? [],
      before: cautious?.before ?? Infinity,
      remote: cautious === undefined,
    }
    // A relative path means another file in each folder.
    const found: FoundModule =
      cautious !== undefined && !isAbsolute(module)
        ? { refused: `${module} is a relative path`, because: 'absent' }
        : await findModule(wanted, places, this.abort.signal)
    if ('refused' in found) this.refused(found)
    const file = 'file' in found ? found.file : undefined
    if (file?.hasLines === false) this.plain.add(file.path)
    else if (file !== undefined && this.tool === undefined) this.noTool(file.path)
    const same = file?.buildId === undefined ? undefined : this.byId.get(file.buildId)
    const kept =
      file === undefined
        ? undefined
        : namesPath(file, `${this.tool ?? 'none'}, ${canDemangle() ? 'demangled' : 'mangled'}`)
    const names = same === undefined && kept !== undefined ? keptNames(kept) : new Map<bigint, Names>()
    this.cached += names.size
    const known = same ?? { path: file?.path, names, kept, lasted: 0 }
    if (file?.buildId !== undefined) this.byId.set(file.buildId, known)
    this.modules.set(module, known)
    return known
  }

  /** Warns once that a file has line tables which nothing reads, unless that is wanted. */
  private noTool(path: string): void {
    if (this.told.has('tool') || this.options.tool === 'none' || this.cautious !== undefined) return
    this.told.add('tool')
    this.warnings.push(`${path}: no files and lines: neither ${ADDRESS_TOOLS.join(' nor ')} is installed`)
  }

  private refused({ refused, because }: Exclude<FoundModule, { file: unknown }>): void {
    if (this.cautious === undefined) {
      if (this.warnings.length < MAX_MODULES) this.warnings.push(`no names: ${refused}`)
      return
    }
    if (because === 'absent' || this.told.has(because)) return
    this.told.add(because)
    const more = because === 'newer' ? ', and so may be others; hf-symbolize takes their names all the same' : ''
    this.warnings.push(`no names: ${refused}${more}`)
  }

  /** The names at offsets in a file: the tool's, or the names of the file's own symbols if the tool has none. */
  private async ask(path: string, offsets: readonly bigint[]): Promise<Names[]> {
    const answers = ((await this.askTool(path, offsets)) ?? offsets.map((): Names => [])).map((names) =>
      this.withScopes(path, names),
    )
    const missing = offsets.flatMap((_, i) => (answers[i].length === 0 ? [i] : []))
    if (missing.length === 0) return answers
    const rest = missing.map((i) => offsets[i])
    try {
      const names = await this.askNamer(path, () => new SymbolFile(path, this.abort.signal), rest)
      missing.forEach((i, n) => (answers[i] = names[n]))
    } catch (error) {
      if (this.abort.signal.aborted) throw error
      this.failed(path, error)
    }
    return answers
  }

  /**
   * Names whose inlined functions have their namespaces and classes where llvm-symbolizer leaves them out. The names of
   * addr2line stay unchanged, because it may give another function for inlined code.
   */
  private withScopes(path: string, names: Names): Names {
    if (this.tool !== 'llvm-symbolizer' || !names.some(isShort)) return names
    let full = this.full.get(path)
    if (full === undefined) this.full.set(path, (full = fullNames(path)))
    return names.map((name) => (isShort(name) ? { ...name, function: full.get(name.function) ?? name.function } : name))
  }

  /** The names by the tool; undefined if there is none for this file. */
  private async askTool(path: string, offsets: readonly bigint[]): Promise<Names[] | undefined> {
    const { tool, abort, plain } = this
    if (tool === undefined || plain.has(path)) return undefined
    try {
      return await this.askNamer(`${tool} ${path}`, () => new AddressProcess(tool, path, abort.signal), offsets)
    } catch (error) {
      if (abort.signal.aborted) throw error
      this.warnings.push(`${path}: ${(error as Error).message}; its symbols are read instead`)
      plain.add(path)
      this.failing.add(path)
      return undefined
    }
  }

  /** Asks what is open already, or opens it. */
  private async askNamer(key: string, open: () => AddressNamer, offsets: readonly bigint[]): Promise<Names[]> {
    const { namers } = this
    const namer = namers.get(key) ?? open()
    // The most recently used one is the last.
    namers.delete(key)
    namers.set(key, namer)
    if (namers.size > MAX_NAMERS) {
      const [oldest, first] = namers.entries().next().value as [string, AddressNamer]
      first.close()
      namers.delete(oldest)
    }
    try {
      return await namer.ask(offsets)
    } catch (error) {
      namer.close()
      namers.delete(key)
      throw error
    }
  }

  /** No names: a file that cannot be read, such as one that was replaced. */
  private failed(path: string, error: unknown): void {
    if (!this.unreadable.has(path)) this.warnings.push(`no names: ${path}: ${(error as Error).message}`)
    this.unreadable.add(path)
  }
}

/**
 * Whether a function may lack its scope: those with template arguments, and without parameters after them, which
 * demangled names have.
 */
function isShort(name: Names[number]): name is Names[number] & { readonly function: string } {
  return name.function !== undefined && /^[\w~]+<.*>$/s.test(name.function)
}
