export { recordsWithoutLoop } from './loopable.js'
export { compileDtd, type CompileOptions } from './module.js'
export type { Language } from './source.js'
