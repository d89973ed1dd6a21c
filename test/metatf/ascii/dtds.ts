import { parseDtd } from '../../../lib/metatf/index.js'

/** Every construct that 1.2 has but sectionStride, which lines cannot have. */
export const EVERYTHING = parseDtd(
  `## MetaTF: 1.2
int size = none;
int address = none;
int thread = default 0;
int n = none;
int m = none;
string file = none;

point : {x, y} { int x = none; int y = delta 10; }
place : {file, line} { int line = none; }
tagged : {tag, mark} { tag = 77; int mark = none; }

section heap 1 {
  alloc : {tag, time, size, address, thread, file, weight, cpu} {
    tag = 300; int time = delta 1000; int weight = baseOffset 100; int cpu = none;
  }
  page : {tag, kind, size} { tag = 7; kind = "huge"; size = 4096; string kind = none; }
  free : {tag, address, size, step} { tag = 0; int size = default 16; int step = stride -4 4; }
  realloc : {tag, size, address, address, place, reason} { tag = 2; string reason = default "none"; }
  reallocate : realloc { tag = 3; }
  shape : {tag, n, n*point, tagged, centre : point, rows, rows*{m, m*size, file}} { tag = 4294967295; int rows = none; }
  twice : {tag, n, n*size, n*file} { tag = 5; }
  empty : {tag} { tag = 6; }
  note : {tag, offset, k, k*{n*size}} { tag = 8; int offset = sectionOffset 2; int k = none; }
  remark : {tag, message} { tag = 9; string message = none; }
}
section names 2 { name : {tag, string2} { tag = 10; string string2 = none; } }
`,
  'everything.dtd',
)
