export { compileDtd, type CompileOptions } from './module.js'
export type { Language } from './source.js'
