/** Values that a command's help states and its implementation uses. */

/** `hf-stats --top`: rows of each table. */
export const TOP = 10

/** `hf-verify --places`: how many places of each fault are listed. */
export const PLACES = 10
/** `hf-verify --window`: among how many events a late free is looked for. */
export const REPAIR_WINDOW = 16_384

/** Stands for the key in the names of the files that `hf-split` and `hatf-split` write. */
export const KEY_PLACE = '{}'
/** `hf-split --max-open`: how many files are open at once. */
export const MAX_OPEN = 64
/** `hf-split --max-files`: how many files there may be. */
export const MAX_FILES = 1000

/** Stands for the CPU in the names of the files that `kmemtrace-encode` writes. */
export const CPU_PLACE = '%d'
