import fc from 'fast-check'

/** A field as it is generated: a name to be declared, a predefined or own record type, a composite or a repetition. */
interface Shape {
  kind: 'leaf' | 'typed' | 'composite' | 'repeat'
  /** Of a composite or repetition. */
  fields: Shape[]
  /** What decides everything else. */
  pick: number
}

const PICK = fc.nat(1000)

const { shape } = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record<Shape>({ kind: fc.constantFrom('leaf', 'leaf', 'leaf', 'typed'), fields: fc.constant([]), pick: PICK }),
    fc.record<Shape>({
      kind: fc.constantFrom('composite', 'repeat'),
      fields: fc.array(tie('shape'), { minLength: 1, maxLength: 3 }),
      pick: PICK,
    }),
  ),
}))

const recordShape = fc.record({ fields: fc.array(shape, { minLength: 1, maxLength: 6 }), alias: fc.nat(9) })
const sectionShape = fc.array(recordShape, { maxLength: 4 })

/**
 * The text of a valid DTD of 1.0 or 1.2: global records and two sections, one of which is a table, with every
 * interpretation, nested and repeated fields, references, constants, record types used as fields and records of a type.
 */
export const randomDtd: fc.Arbitrary<string> = fc
  .record({ v10: fc.boolean(), outer: sectionShape, inner: sectionShape, tagWidth: fc.integer({ min: 1, max: 8 }) })
  .map(({ v10, outer, inner, tagWidth }) => new Writer(v10, tagWidth).dtd(outer, inner))

const NUMBERS = ['0', '1', '255', '0x10', '-1', '18446744073709551615', '-9223372036854775808']
const STRINGS = ['""', '"a \\"b\\" \\\\"']

class Writer {
  private names = 0
  private tags = 4
  private types: string[] = []

  constructor(
    private readonly v10: boolean,
    private readonly tagWidth: number,
  ) {}

  dtd(outer: RecordShape[], inner: RecordShape[]): string {
    if (this.v10) this.types = ['vfield', 'comment']
    const head = this.v10 ? `tag.width = ${this.tagWidth};` : '## MetaTF: 1.2 http://example.org/\n## Key: and: value'
    const element = this.v10
      ? 'element : (v) { v.width = 4; v.interpretation = none; }'
      : 'element : {v} { int v = none; }'
    return `${head}\n${outer.map((shape) => this.record(shape)).join('\n')}
section values 255 { ${element} }
section main 2 {\n${inner.map((shape) => this.record(shape)).join('\n')}\n}`
  }

  private record({ fields, alias }: RecordShape): string {
    const name = `record${this.names++}`
    const tag = `${this.v10 ? 'tag.value' : 'tag'} = ${this.tags++};`
    const type = this.types[alias]
    if (type !== undefined) {
      this.types.push(name)
      return `${name} : ${type} { ${tag} }`
    }
    const properties: string[] = []
    const list = this.fields(fields, properties, [], 0)
    const tagged = alias !== 9
    if (tagged) properties.push(tag)
    this.types.push(name)
    const text = (tagged ? ['tag', ...list] : list).join(', ')
    return `${name} : ${this.v10 ? `(${text})` : `{${text}}`} {\n  ${properties.join('\n  ')}\n}`
  }

  /** The fields; `ints` are the names of fields that later ones can refer to. */
  private fields(shapes: Shape[], properties: string[], ints: string[], depth: number): string[] {
    return shapes.map((field) => {
      const name = `f${this.names++}`
      const { pick } = field
      if (field.kind === 'leaf') return this.leaf(name, pick, properties, ints)
      if (field.kind === 'typed') {
        const type = this.types[pick % Math.max(this.types.length, 1)]
        // Types made of types grow without bounds, so that only the first ones are used.
        if (type === undefined || pick % this.types.length > 3 || depth > 1)
          return this.leaf(name, pick, properties, ints)
        return pick % 2 === 0 ? type : `${name} : ${type}`
      }
      if (field.kind === 'composite') return this.brackets(this.fields(field.fields, properties, ints, depth + 1))
      const inline = pick % 3 === 0 || ints.length === 0
      const count = inline ? name : ints[pick % ints.length]
      // A count that is a field at that place only may not count anything else.
      if (inline)
        properties.push(this.v10 ? `${name}.width = 2; ${name}.interpretation = none;` : `int ${name} = none;`)
      return `${count} * ${this.brackets(this.fields(field.fields, properties, [...ints], depth + 1))}`
    })
  }

  private leaf(name: string, pick: number, properties: string[], ints: string[]): string {
    const number = NUMBERS[pick % NUMBERS.length]
    const stored = ['none', `baseOffset ${number}`, `delta ${number}`, 'sectionOffset 2']
    const unstored = [`default ${number}`, `stride ${number} ${number}`, 'sectionStride 255 3']
    if (!this.v10) {
      if (pick % 5 === 0) {
        const text = STRINGS[pick % 2]
        properties.push(
          pick % 3 === 0 ? `string ${name} = none; ${name} = ${text};` : `string ${name} = default ${text};`,
        )
        return name
      }
      const all = [...stored, ...unstored]
      properties.push(`int ${name} = ${all[pick % all.length]};`)
    } else if (pick % 4 === 0) {
      properties.push(`${name}.interpretation = ${unstored[pick % 3]};`)
    } else if (pick % 4 === 1 && ints.length > 0) {
      const other = ints[pick % ints.length]
      const interpretation = pick % 3 === 0 ? 'none' : `baseOffset ${other}.value`
      properties.push(`${name}.width = ${other}.value; ${name}.interpretation = ${interpretation};`)
      if (pick % 3 === 0) return name
    } else {
      properties.push(`${name}.width = ${pick % 9}; ${name}.interpretation = ${stored[pick % 4]};`)
      if (pick % 5 === 0) properties.push(`${name}.value = 0;`)
    }
    ints.push(name)
    return name
  }

  private brackets(fields: string[]): string {
    return this.v10 ? `(${fields.join(', ')})` : `{${fields.join(', ')}}`
  }
}

type RecordShape = { fields: Shape[]; alias: number }
