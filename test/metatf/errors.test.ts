import { describe, expect, test } from 'vitest'
import type { DtdErrorCode } from '../../lib/metatf/index.js'
import { dtdError } from './support.js'

/** Begins a DTD of 1.0; what follows begins on line 2. */
const V10 = 'tag.width = 1;\n'

/** Begins a DTD of 1.2; what follows begins on line 2. */
const V12 = '## MetaTF: 1.2\n'

const SYNTAX: [text: string, message: string][] = [
  ['tag.width = 1', "x.dtd:1:14: expected ';', found the end of the text"],
  ['tag.width = 1:', "x.dtd:1:14: expected ';', found ':'"],
  ['tag.width 1;', "x.dtd:1:11: expected '=', found '1'"],
  ['tag.width = ;', "x.dtd:1:13: expected a number or 'field.value', found ';'"],
  ['tag.width = "1";', `x.dtd:1:13: expected a number or 'field.value', found '"1"'`],
  ['tag.width = size.depth;', "x.dtd:1:18: expected 'value' or 'width', found 'depth'"],
  ['tag.colour = 1;', "x.dtd:1:5: unknown property 'colour'; there are width, interpretation and value"],
  ['tag;', "x.dtd:1:4: expected ':' or '.' after 'tag', found ';'"],
  ['= 4;', "x.dtd:1:1: expected a definition, found '='"],
  [
    `${V10}a : (tag, x) { tag.value = 4; x.interpretation = double; }`,
    "x.dtd:2:50: unknown interpretation 'double'; there are none, baseOffset, delta, default, sectionOffset, " +
      'stride, sectionStride',
  ],
  [
    `${V10}a : (tag, x) { tag.value = 4; x.interpretation = delta; }`,
    "x.dtd:2:55: expected the initialValue of delta, found ';'",
  ],
  [
    `${V10}a : (tag, x) { tag.value = 4; x.interpretation = stride 1; }`,
    "x.dtd:2:58: expected the stride of stride, found ';'",
  ],
  [`${V10}a : (tag, x) { tag.value = 4; x.interpretation = none 1; }`, "x.dtd:2:55: expected ';', found '1'"],
  [`${V10}a : (tag, x) { tag.value = 4; x.interpretation = delta 1 2; }`, "x.dtd:2:58: expected ';', found '2'"],
  [`${V10}a : (tag, x) { tag.value = 4;`, "x.dtd:2:30: expected a property or '}', found the end of the text"],
  [`${V10}a : (tag, x { tag.value = 4; }`, "x.dtd:2:13: expected ',' or ')', found '{'"],
  [`${V10}a : (tag, ) { tag.value = 4; }`, "x.dtd:2:11: expected a field, found ')'"],
  [`${V10}a : () { }`, "x.dtd:2:6: expected a field, found ')'"],
  [`${V10}a : 4 { }`, "x.dtd:2:5: expected '(' or a record type, found '4'"],
  [`${V10}a : (tag)\nb : (tag) { }`, "x.dtd:3:1: expected '{', found 'b'"],
  [`${V10}a : (tag, n*m*x) { }`, "x.dtd:2:14: expected ',' or ')', found '*'"],
  [`${V10}a : (tag) { tag = 4; }`, "x.dtd:2:17: expected '.' after 'tag', found '='"],
  [`${V10}section heap { }`, "x.dtd:2:14: expected the section's ID, found '{'"],
  [`${V10}section 1 heap { }`, "x.dtd:2:9: expected the section's name, found '1'"],
  [
    `${V10}section heap 1 { section inner 2 { } }`,
    "x.dtd:2:18: expected a definition or '}' (sections cannot be inside each other), found 'section'",
  ],
  [
    `${V10}section heap 1 { }\nsize.width = 4;`,
    "x.dtd:3:1: expected another section (global definitions come before the first one), found 'size'",
  ],
  [
    `${V10}section heap 1 { }\nsection other 2 { }\nsize.width = 4;`,
    "x.dtd:4:1: expected another section (global definitions come before the first one), found 'size'",
  ],
  [`${V10}section heap 1 {\n  a : (tag) { tag.value = 4; } \\\n}`, `x.dtd:3:32: unexpected character '\\'`],
  [`${V10}x.width = 12ab;`, "x.dtd:2:11: '12ab' is not a number"],
  [`${V10}x.width = é;`, 'x.dtd:2:11: unexpected character U+00E9'],
  [`${V10}/* no end`, "x.dtd:2:1: a comment '/*' has no end '*/'"],
  [`${V10}x.interpretation = default 0; ## Key: value`, "x.dtd:2:31: '##' must begin a line"],
  [`${V10}## Key: value`, "x.dtd:2:1: expected a definition, found a line '##'"],
  ['## MetaTF: 1.1 http://example.org/\n', "x.dtd:1:1: Meta-TF version '1.1' is not known; 1.0 and 1.2 are"],
  ['## no colon\n', "x.dtd:1:1: a line '##' must read '## Key: value'"],
  [`${V12}int size = none`, "x.dtd:2:16: expected ';', found the end of the text"],
  [`${V12}int = none;`, "x.dtd:2:5: expected ':' after 'int', found '='"],
  [`${V12}size.width = 4;`, "x.dtd:2:5: expected ':' after 'size', found '.'"],
  [
    `${V12}string text = default "no end;\n`,
    'x.dtd:2:23: a string must end on its line, and only \\" and \\\\ may follow a backslash in it',
  ],
  [
    `${V12}string text = default "\\n";`,
    'x.dtd:2:23: a string must end on its line, and only \\" and \\\\ may follow a backslash in it',
  ],
  [`${V12}int size = default other.value;`, "x.dtd:2:20: expected the value of default, found 'other'"],
  [`${V12}a : (tag) { tag = 1; }`, "x.dtd:2:5: expected '{' or a record type, found '('"],
  [`${V12}a : {tag} { tag.value = 1; }`, "x.dtd:2:16: expected '=' after 'tag', found '.'"],
  [`${V12}a : {tag} { tag = none; }`, "x.dtd:2:19: expected a number or a string, found 'none'"],
]

const MEANING: [text: string, message: string][] = [
  ['size.width = 4;', 'x.dtd:1:1: the width of the tag is not set'],
  [`${V10}tag.width = 2;`, "x.dtd:2:1: the width of 'tag' is defined twice (first defined at x.dtd:1:1)"],
  ['tag.width = 0;', 'x.dtd:1:13: the width of the tag must be a number from 1 to 8'],
  ['tag.width = 9;', 'x.dtd:1:13: the width of the tag must be a number from 1 to 8'],
  ['tag.width = size.width;', 'x.dtd:1:13: the width of the tag must be a number from 1 to 8'],
  [`${V10}tag.value = 4;`, 'x.dtd:2:1: the value of a tag can be set in a record only'],
  [`${V10}tag.interpretation = default 1;`, 'x.dtd:2:1: the interpretation of the tag is always none, not default'],
  [`${V10}section heap 1 { tag.width = 2; }`, 'x.dtd:2:18: the width of the tag can be set globally only'],
  [`${V10}a : (tag) { tag.value = 4; tag.width = 2; }`, 'x.dtd:2:28: the width of the tag can be set globally only'],
  [
    `${V10}a : (tag) {\n  tag.value = 4;\n  tag.value = 5;\n}`,
    "x.dtd:4:3: the value of 'tag' is defined twice (first defined at x.dtd:3:3)",
  ],
  [`${V10}a : (tag) { }`, "x.dtd:2:6: the tag of record 'a' has no value (record 'a' is defined at x.dtd:2:1)"],
  [
    `${V10}a : (tag) { tag.value = 256; }`,
    "x.dtd:2:25: the tag of record 'a' is 256, which does not fit 1 byte (the width is set at x.dtd:1:1)",
  ],
  [
    `${V10}a : (tag) { tag.value = -1; }`,
    "x.dtd:2:25: the tag of record 'a' must be a number from 0 to 2^32 - 1 (record 'a' is defined at x.dtd:2:1)",
  ],
  [
    'tag.width = 8;\na : (tag) { tag.value = 0x100000000; }',
    "x.dtd:2:25: the tag of record 'a' must be a number from 0 to 2^32 - 1 (record 'a' is defined at x.dtd:2:1)",
  ],
  [
    `${V10}a : (tag, x) { tag.value = x.value; x.width = 1; x.interpretation = none; }`,
    "x.dtd:2:28: the tag of record 'a' must be a number from 0 to 2^32 - 1 (record 'a' is defined at x.dtd:2:1)",
  ],
  [
    `${V10}a : (x, tag) { tag.value = 4; x.width = 1; x.interpretation = none; }`,
    "x.dtd:2:9: the tag must be a record's first field (record 'a' is defined at x.dtd:2:1)",
  ],
  [
    `${V10}a : (tag, tag) { tag.value = 4; }`,
    "x.dtd:2:11: the tag must be a record's first field (record 'a' is defined at x.dtd:2:1)",
  ],
  [
    `${V10}a : ((tag)) { tag.value = 4; }`,
    "x.dtd:2:7: the tag must be a record's first field (record 'a' is defined at x.dtd:2:1)",
  ],
  [
    `${V10}a : (x) { tag.value = 4; x.width = 1; x.interpretation = none; }`,
    "x.dtd:2:11: record 'a' has no field 'tag' (record 'a' is defined at x.dtd:2:1)",
  ],
  [
    `${V10}a : (tag) { tag.value = 1; }`,
    "x.dtd:2:1: record 'a' has the tag 1 of record 'comment' (first defined at predefined:5:1)",
  ],
  [
    `${V10}section heap 1 {\n  a : (tag) { tag.value = 4; }\n  b : (tag) { tag.value = 4; }\n}`,
    "x.dtd:4:3: record 'b' has the tag 4 of record 'a' (first defined at x.dtd:3:3)",
  ],
  [
    `${V10}section heap 1 {\n  a : (tag) { tag.value = 4; }\n  a : (tag) { tag.value = 5; }\n}`,
    "x.dtd:4:3: record 'a' is defined twice (first defined at x.dtd:3:3)",
  ],
  [
    `${V10}section heap 1 { }\nsection heap 2 { }`,
    "x.dtd:3:9: section 'heap' is defined twice (first defined at x.dtd:2:9)",
  ],
  [
    `${V10}section heap 1 { }\nsection other 1 { }`,
    "x.dtd:3:15: section ID 1 is taken (section 'heap' is defined at x.dtd:2:9)",
  ],
  [`${V10}section heap 0 { }`, "x.dtd:2:14: the ID of section 'heap' must be from 1 to 255, not 0"],
  [`${V10}section heap 256 { }`, "x.dtd:2:14: the ID of section 'heap' must be from 1 to 255, not 256"],
  [`${V10}section comment 1 { }`, "x.dtd:2:9: 'comment' is reserved and cannot be a section"],
  [
    `${V10}section heap 1 { vfield : (tag) { tag.value = 4; } }`,
    "x.dtd:2:18: 'vfield' is reserved and cannot be a record defined here",
  ],
  [`${V10}width : (tag) { tag.value = 4; }`, "x.dtd:2:1: 'width' is reserved and cannot be a record defined here"],
  [`${V10}tag : (tag) { tag.value = 4; }`, "x.dtd:2:1: 'tag' is reserved and cannot be a record defined here"],
  [`${V10}value.width = 4;`, "x.dtd:2:1: 'value' is reserved and cannot be a field"],
  [`${V10}a : (tag, value) { tag.value = 4; }`, "x.dtd:2:11: 'value' is reserved and cannot be a field"],
  [
    `${V10}vfield.width = 4;`,
    "x.dtd:2:1: 'vfield' is a record type, which has no properties of its own (defined at predefined:1:1)",
  ],
  [
    `${V10}a : (tag, vfield) { tag.value = 4; vfield.width = 4; }`,
    "x.dtd:2:36: 'vfield' is a record type, which has no properties of its own (used at x.dtd:2:11)",
  ],
  [
    `${V10}size.width = 4;\nsize.width = 8;`,
    "x.dtd:3:1: the width of 'size' is defined twice (first defined at x.dtd:2:1)",
  ],
  [
    `${V10}size.interpretation = none;\nsize.interpretation = delta 0;`,
    "x.dtd:3:1: the interpretation of 'size' is defined twice (first defined at x.dtd:2:1)",
  ],
  [
    `${V10}a : (tag, x) { tag.value = 4; }`,
    "x.dtd:2:11: field 'x' of record 'a' has neither width nor interpretation (record 'a' is defined at x.dtd:2:1)",
  ],
  [
    `${V10}x.width = 4;\na : (tag, x) { tag.value = 4; }`,
    "x.dtd:3:11: field 'x' of record 'a' has no interpretation (its width is defined at x.dtd:2:1)",
  ],
  [
    `${V10}x.interpretation = none;\na : (tag, x) { tag.value = 4; }`,
    "x.dtd:3:11: field 'x' of record 'a' has no width (its interpretation is defined at x.dtd:2:1)",
  ],
  [
    `${V10}a : (tag) { tag.value = 4; x.width = 4; }`,
    "x.dtd:2:28: record 'a' has no field 'x' (record 'a' is defined at x.dtd:2:1)",
  ],
  [`${V10}a : (tag, x : text) { tag.value = 4; }`, "x.dtd:2:15: there is no record type 'text'"],
  [`${V10}a : text { tag.value = 4; }`, "x.dtd:2:5: there is no record type 'text'"],
  [
    `${V10}a : (tag, tag : vfield) { tag.value = 4; }`,
    'x.dtd:2:17: the tag cannot be of a record type (it is at x.dtd:2:11)',
  ],
  [
    `${V10}a : b { tag.value = 4; }\nb : a { tag.value = 5; }`,
    "x.dtd:3:5: record type 'a' contains itself: a, b, a (defined at x.dtd:2:1)",
  ],
  [
    `${V10}a : (b) { }\nb : (c) { }\nc : (a) { }`,
    "x.dtd:4:6: record type 'a' contains itself: a, b, c, a (defined at x.dtd:2:1)",
  ],
  [`${V10}a : (tag, metadata) { tag.value = 4; }`, "x.dtd:2:11: 'metadata' cannot be part of another record"],
  [
    `${V10}a : (tag, x) { tag.value = 4; x.interpretation = default 0; x.width = 4; }`,
    'x.dtd:2:61: a field with interpretation default has width 0 (the interpretation is defined at x.dtd:2:50)',
  ],
  [
    `${V10}x.interpretation = stride 0 1;\na : (tag, x) { tag.value = 4; x.width = 4; }`,
    'x.dtd:3:31: a field with interpretation stride has width 0 (the interpretation is defined at x.dtd:2:20)',
  ],
  [
    `${V10}a : (tag, x) { tag.value = 4; x.interpretation = delta 0; x.width = 16; }`,
    'x.dtd:2:59: a field with interpretation delta has at most 8 bytes, not 16 (the interpretation is defined at x.dtd:2:50)',
  ],
  [
    `${V10}a : (tag, x) { tag.value = 4; x.interpretation = none; x.width = -1; }`,
    "x.dtd:2:66: the width of 'x' must be a number from 0 to 2^53 - 1 (defined at x.dtd:2:56)",
  ],
  [
    `${V10}a : (tag, x) { tag.value = 4; x.interpretation = none; x.width = 0x20000000000000; }`,
    "x.dtd:2:66: the width of 'x' must be a number from 0 to 2^53 - 1 (defined at x.dtd:2:56)",
  ],
  [
    `${V10}a : (tag, x, n) { tag.value = 4; x.width = n.value; x.interpretation = none; n.width = 1; ` +
      `n.interpretation = none; }`,
    "x.dtd:2:44: the width of 'x' refers to 'n', which does not come before it (it is at x.dtd:2:14)",
  ],
  [
    `${V10}a : (tag, x) { tag.value = 4; x.width = x.value; x.interpretation = none; }`,
    "x.dtd:2:41: the width of 'x' refers to 'x', which does not come before it (it is at x.dtd:2:11)",
  ],
  [
    `${V10}x.width = n.value;\nx.interpretation = none;\na : (tag, x) { tag.value = 4; }`,
    "x.dtd:2:11: the width of 'x' refers to 'n', which record 'a' does not have (record 'a' is defined at x.dtd:4:1)",
  ],
  [
    `${V10}n.width = 1; n.interpretation = none;\na : (tag, n, n, x) { tag.value = 4; x.width = n.value; ` +
      `x.interpretation = none; }`,
    "x.dtd:3:47: the width of 'x' refers to 'n', of which record 'a' has several before that (the second at x.dtd:3:14)",
  ],
  [
    `${V10}n.width = 1; n.interpretation = none;\nm.width = 1; m.interpretation = none;\n` +
      `a : (tag, n, n*m, x) { tag.value = 4; x.width = m.value; x.interpretation = none; }`,
    "x.dtd:4:49: the width of 'x' refers to 'm', which is inside a repetition (it is at x.dtd:4:16)",
  ],
  [
    `${V10}a : (tag, vfield, x) { tag.value = 4; x.width = vfield.value; x.interpretation = none; }`,
    "x.dtd:2:49: the width of 'x' refers to 'vfield', which is a record type (used at x.dtd:2:11)",
  ],
  [
    `${V10}a : (tag, vfield, x) { tag.value = 4; x.width = length.value; x.interpretation = none; }`,
    "x.dtd:2:49: the width of 'x' refers to 'length', which record 'a' does not have (record 'a' is defined at x.dtd:2:1)",
  ],
  [
    `${V10}n.width = 16; n.interpretation = none;\na : (tag, n, x) { tag.value = 4; x.width = n.value; ` +
      `x.interpretation = none; }`,
    "x.dtd:3:44: the width of 'x' refers to 'n', which is not an int field (it is at x.dtd:3:11)",
  ],
  [
    `${V10}a : (tag, n, x, y) { tag.value = 4; n.width = 1; n.interpretation = none; x.width = n.value; ` +
      `x.interpretation = none; y.width = x.width; y.interpretation = none; }`,
    "x.dtd:2:129: the width of 'y' refers to 'x', which is not an int field (it is at x.dtd:2:14)",
  ],
  [
    `${V10}n.width = 16; n.interpretation = none;\nx.width = 1; x.interpretation = none;\na : (tag, n, n*x) { tag.value = 4; }`,
    "x.dtd:4:14: the repetition refers to 'n', which is not an int field (it is at x.dtd:4:11)",
  ],
  [
    `${V10}n.width = 1; n.interpretation = none;\nx.width = 1; x.interpretation = none;\na : (tag, n*x, n) { tag.value = 4; }`,
    "x.dtd:4:11: the repetition refers to 'n', which does not come before it (it is at x.dtd:4:16)",
  ],
  [
    `${V10}n.width = 1; n.interpretation = none;\nx.width = 1; x.interpretation = none;\n` +
      `a : (tag, n*x, n*x) { tag.value = 4; }`,
    "x.dtd:4:16: 'n' counts two fields but stands only before the first; write it once, before " +
      'both (first used at x.dtd:4:11)',
  ],
  [
    `${V10}a : (tag, vfield*x) { tag.value = 4; }`,
    "x.dtd:2:11: the repetition refers to 'vfield', which is a record type (used at x.dtd:2:11)",
  ],
  [
    `${V10}a : (tag, n*x) { tag.value = 4; }`,
    "x.dtd:2:11: field 'n' of record 'a' has neither width nor interpretation (record 'a' is defined at x.dtd:2:1)",
  ],
  [
    `${V10}a : (tag, x) { tag.value = 4; x.width = 1; x.interpretation = sectionOffset 2; }`,
    'x.dtd:2:77: there is no section 2 (the field is at x.dtd:2:11)',
  ],
  [
    `${V10}a : (tag, x) { tag.value = 4; x.interpretation = sectionStride 2 1; }`,
    'x.dtd:2:64: there is no section 2 (the field is at x.dtd:2:11)',
  ],
  [
    `${V10}a : (tag, x) { tag.value = 4; x.interpretation = sectionStride 2 1; }\nsection table 2 { }`,
    'x.dtd:2:50: section 2 is no table, which sectionStride needs: one record type with one field of fixed width ' +
      "(section 'table' is defined at x.dtd:3:9)",
  ],
  [
    `${V10}a : (tag, x) { tag.value = 4; x.interpretation = sectionStride 2 1; }\nsection table 2 { e : (vfield) { } }`,
    'x.dtd:2:50: section 2 is no table, which sectionStride needs: one record type with one field of fixed width ' +
      "(section 'table' is defined at x.dtd:3:9)",
  ],
  [
    `${V10}a : (tag, x) { tag.value = 4; x.interpretation = sectionStride 2 1; }\nsection table 2 { e : (v) { v.width = 9; v.interpretation = none; } }`,
    'x.dtd:2:50: section 2 is no table, which sectionStride needs: one record type with one field of fixed width ' +
      "(section 'table' is defined at x.dtd:3:9)",
  ],
  [
    `${V10}a : (tag, x) { tag.value = 4; x.interpretation = sectionStride 2 -1; }\nsection table 2 { }`,
    'x.dtd:2:66: the stride of sectionStride must be from 0 to 2^32 - 1 (the field is at x.dtd:2:11)',
  ],
  [
    `${V10}a : (tag, x, y) { tag.value = 4; x.width = 1; x.interpretation = none; y.width = 1; ` +
      `y.interpretation = delta x.value; }`,
    'x.dtd:2:110: the initialValue of delta must be a number (the field is at x.dtd:2:14)',
  ],
  [
    `${V10}a : (tag, x, y) { tag.value = 4; x.width = 1; x.interpretation = none; y.interpretation = default x.width; }`,
    'x.dtd:2:99: the value of default must be a number or the value of a field (the field is at x.dtd:2:14)',
  ],
  [
    `${V10}a : (tag, x) { tag.value = 4; x.width = 1; x.interpretation = none; x.value = 256; }`,
    "x.dtd:2:79: the value of 'x' is 256, which does not fit its 1 byte (the field is at x.dtd:2:11)",
  ],
  [
    `${V10}a : (tag, x) { tag.value = 4; x.width = 1; x.interpretation = none; x.value = -1; }`,
    "x.dtd:2:79: the value of 'x' must not be negative (the field is at x.dtd:2:11)",
  ],
  [
    `${V10}a : (tag, x) { tag.value = 4; x.interpretation = default 1; x.value = 2; }`,
    "x.dtd:2:71: the value of 'x' is not that of its default (the field is at x.dtd:2:11)",
  ],
  [
    `${V10}a : (tag, x) { tag.value = 4; x.width = 16; x.interpretation = none; x.value = 2; }`,
    "x.dtd:2:80: the value of 'x' cannot be given, for its width is not that of a number (the field is at x.dtd:2:11)",
  ],
  [
    `${V10}a : (tag, x) { tag.value = 4; x.width = 1; x.interpretation = none; x.value = tag.width; }`,
    "x.dtd:2:79: the value of 'x' cannot be a width (the field is at x.dtd:2:11)",
  ],
  [
    `${V10}comment : (tag, text) { tag.value = 1; text.width = 1; text.interpretation = none; }`,
    "x.dtd:2:1: 'comment' is predefined and must have the fields tag, length, data ('comment' is defined at predefined:5:1)",
  ],
  [
    `${V10}section : (tag, number) { tag.value = 9; }`,
    "x.dtd:2:1: 'section' is predefined and must have the tag 2, not 9 ('section' is defined at predefined:8:1)",
  ],
  [
    `${V10}metadata : (tag, record, field, property, value) { value.width = 16; }`,
    "x.dtd:2:43: of 'value' in the predefined 'metadata' only the width can be chosen, from 1 to 8 bytes ('value' " +
      'is defined at predefined:12:43)',
  ],
  [
    `${V10}vfield : (length, data) { length.interpretation = delta 0; }`,
    "x.dtd:2:11: of 'length' in the predefined 'vfield' only the width can be chosen, from 1 to 8 bytes ('length' " +
      'is defined at predefined:1:11)',
  ],
  [`${V12}int tag = default 1;\n`, 'x.dtd:2:5: the interpretation of the tag is always none, not default'],
  [`${V12}string tag = none;\n`, 'x.dtd:2:8: the tag is always an int'],
  [`${V12}int int = none;\n`, "x.dtd:2:5: 'int' is reserved and cannot be a field"],
  [`${V12}int size = none;\nint size = none;`, "x.dtd:3:5: 'size' is defined twice (first defined at x.dtd:2:5)"],
  [
    `${V12}int size = default "";\na : {tag, size} { tag = 1; }`,
    'x.dtd:2:20: the value of default must be a number (the field is at x.dtd:3:11)',
  ],
  [
    `${V12}string text = default 1;\na : {tag, text} { tag = 1; }`,
    'x.dtd:2:23: the value of default must be a string (the field is at x.dtd:3:11)',
  ],
  [
    `${V12}string text = delta 1;\na : {tag, text} { tag = 1; }`,
    'x.dtd:2:15: a string cannot have interpretation delta (the field is at x.dtd:3:11)',
  ],
  [
    `${V12}string text = none;\na : {tag, text} { tag = 1; text = 1; }`,
    "x.dtd:3:35: the value of 'text' must be a string (the field is at x.dtd:3:11)",
  ],
  [
    `${V12}int size = none;\na : {tag, size} { tag = 1; size = ""; }`,
    "x.dtd:3:35: the value of 'size' must be a number (the field is at x.dtd:3:11)",
  ],
  [
    `${V12}a : {tag, size} { tag = 1; }`,
    "x.dtd:2:11: field 'size' of record 'a' is not declared (record 'a' is defined at x.dtd:2:1)",
  ],
  [
    `${V12}a : {tag} { tag = "1"; }`,
    "x.dtd:2:19: the tag of record 'a' must be a number from 0 to 2^32 - 1 (record 'a' is defined at x.dtd:2:1)",
  ],
  [
    `${V12}string text = none;\nint x = none;\na : {tag, text, text*x} { tag = 1; }`,
    "x.dtd:4:17: the repetition refers to 'text', which is not an int field (it is at x.dtd:4:11)",
  ],
  [`${V12}vfield : {tag} { tag = 1; }`, "x.dtd:2:1: 'vfield' is reserved and cannot be a record defined here"],
  [`${V12}section int 1 { }`, "x.dtd:2:9: 'int' is reserved and cannot be a section"],
]

const LIMIT: [text: string, message: string][] = [
  [`${V10}x.width = 0x10000000000000000;`, "x.dtd:2:11: the number '0x10000000000000000' has more than 64 bits"],
  [
    `${V10}x.interpretation = default -9223372036854775809;`,
    "x.dtd:2:28: the number '-9223372036854775809' has more than 64 bits",
  ],
]

describe('wrong DTDs', () => {
  const all: [DtdErrorCode, [string, string][]][] = [
    ['ERR_DTD_SYNTAX', SYNTAX],
    ['ERR_DTD_MEANING', MEANING],
    ['ERR_DTD_LIMIT', LIMIT],
  ]
  describe.each(all)('%s', (code, cases) => {
    test.each(cases)('%j', (text, message) => {
      const error = dtdError(text)
      expect(error.message).toBe(message)
      expect(error.code).toBe(code)
    })
  })

  test('say where they are wrong in parts too', () => {
    const error = dtdError(`${V10}size.width = 4;\n  size.width = 8;`)
    expect(error).toMatchObject({ name: 'DtdError', file: 'x.dtd', line: 3, column: 3 })
    expect(error.reason).toBe("the width of 'size' is defined twice")
    expect(error.related).toEqual({ file: 'x.dtd', line: 2, column: 1, note: 'first defined' })
    expect(dtdError('tag').related).toBe(null)
  })

  test('are quoted in part if they are long', () => {
    const name = 'a'.repeat(100)
    expect(dtdError(`${name};`).reason).toBe(`expected ':' or '.' after '${name.slice(0, 40)}...', found ';'`)
  })
})
