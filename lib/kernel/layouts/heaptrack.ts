/**
 * The sorts of lines: one that is something else; one of the others, with numbers that it cannot have; `+ SIZE TRACE
 * POINTER`; `- POINTER`, or `- INFO`; `+ INFO`; `t POINTER PARENT`, or `t ENTRY PARENT`; `a SIZE TRACE`; `c
 * MILLISECONDS`; `R PAGES`.
 */
export const TEXT = 0
export const WRONG = 1
export const ALLOC = 2
export const FREE = 3
export const ALLOC_INFO = 4
export const NODE = 5
export const INFO = 6
export const TIME = 7
export const RESIDENT = 8
