/** Folders of compilers, libraries and the system, whose files are known by their names. */
const SYSTEM = new RegExp(
  '^(?:/usr/|/lib|/rust/|/rustc/|/build/|/tmp/go-build/|/_/GOROOT/|\\.\\.?/)' +
    '|/(?:\\.cargo/registry|go/pkg/mod|zig[^/]*/lib|\\.cache/nim)/',
)
/** The trace of `-I.` in the paths of headers. */
const HERE = /(^|\/)(?:\.\/)+/g

/**
 * Paths in the form of rows: paths of the program lose the folders with which all of them begin, and paths of the
 * system lose all folders. Paths that would become equal keep enough of their last folders to differ.
 */
export function shortPaths(paths: Iterable<string>): ReadonlyMap<string, string> {
  const all = [...new Set(paths)]
  const own = all.filter((path) => path.startsWith('/') && !SYSTEM.test(path))
  const common = commonFolder(own)
  const short = new Map(
    all.map((path) => [
      path,
      path.startsWith('/') && !SYSTEM.test(path)
        ? path.slice(common).replace(HERE, '$1')
        : SYSTEM.test(path)
          ? tail(path, 1)
          : path,
    ]),
  )
  for (let folders = 2, equal = ambiguous(short); equal.length > 0; folders++, equal = ambiguous(short))
    for (const path of equal) short.set(path, folders > 8 ? path : tail(path, folders))
  return short
}

/** The length of the folders, with a slash at the end, that all paths begin with. */
function commonFolder(paths: readonly string[]): number {
  const [first = '', ...others] = paths
  let length = first.lastIndexOf('/') + 1
  for (const path of others)
    while (!path.startsWith(first.slice(0, length))) length = first.lastIndexOf('/', length - 2) + 1
  return length
}

/** The last `n` names of a path. */
function tail(path: string, n: number): string {
  return path.split('/').slice(-n).join('/')
}

/** The paths whose short forms others have, too, and which can become longer. */
function ambiguous(short: ReadonlyMap<string, string>): string[] {
  const owners = new Map<string, string[]>()
  for (const [path, text] of short) {
    const some = owners.get(text)
    if (some === undefined) owners.set(text, [path])
    else some.push(path)
  }
  return [...owners.values()].flatMap((some) =>
    some.length > 1 ? some.filter((path) => short.get(path) !== path) : [],
  )
}
