/**
 * Checks the code of a command or a chunk. scripts/load-chunk.cjs reads it as ASCII, and runs it as CommonJS that
 * cannot import. Without this check, code would fail only where the build has kept what V8 compiled.
 * @throws Error with the line that cannot be run
 */
export function checkChunk(path, code) {
  const module = /^(import|export)\b.*|\bimport\.meta\b.*/m.exec(code)
  if (module !== null) throw new Error(`${path}: cannot be CommonJS: ${module[0]}`)
  // esbuild never writes `{import(` in code: it begins a type in a comment, or in a comment that is generated.
  const dynamic = /^.*(?<!\{)\bimport\(.*/m.exec(code)
  if (dynamic !== null) throw new Error(`${path}: only literal names can be imported: ${dynamic[0].trim()}`)
  const letter = /^.*\P{ASCII}.*/mu.exec(code)
  if (letter !== null) throw new Error(`${path}: not ASCII: ${letter[0].trim()}`)
}
