import { meaningError, quote } from './errors.js'
import type { LeafContext } from './leaf.js'
import type { Interpretation, Leaf, NumberValue, Value } from './model.js'
import { INTERPRETATIONS, type ExpressionSyntax, type InterpretationSyntax } from './syntax.js'

/** The largest number of elements that sectionStride goes on by. */
const MAX_SECTION_STRIDE = 2n ** 32n - 1n

/**
 * The interpretation of a field of that type as the model has it. Throws a DtdError where the arguments do not suit it.
 */
export function initialInterpretation(
  syntax: InterpretationSyntax,
  type: Leaf['type'],
  context: LeafContext,
): Interpretation {
  const { name } = syntax
  if (type === 'string' && name !== 'none' && name !== 'default') {
    throw meaningError(`a string cannot have interpretation ${name}`, syntax.at, 'the field is', context.name.at)
  }
  const [first, second] = syntax.arguments as [ExpressionSyntax, ExpressionSyntax]
  switch (name) {
    case 'none':
      return { kind: name }
    case 'baseOffset':
      return { kind: name, base: numberArgument(syntax, first, context) }
    case 'delta':
      return { kind: name, initial: constant(syntax, 0, context) }
    case 'default':
      return {
        kind: name,
        value: type === 'string' ? stringArgument(first, context) : numberArgument(syntax, first, context),
      }
    case 'sectionOffset':
      return { kind: name, section: sectionNumber(syntax, context) }
    case 'stride':
      return {
        kind: name,
        initial: constant(syntax, 0, context),
        stride: BigInt.asIntN(64, constant(syntax, 1, context)),
      }
    case 'sectionStride': {
      const section = sectionNumber(syntax, context)
      const stride = constant(syntax, 1, context)
      if (stride > MAX_SECTION_STRIDE) {
        throw meaningError(
          'the stride of sectionStride must be from 0 to 2^32 - 1',
          second.at,
          'the field is',
          context.name.at,
        )
      }
      context.layout.strides.push({ section, at: syntax.at })
      return { kind: name, section, stride: Number(stride) }
    }
  }
}

/** A number, or in 1.0 the value of another field. */
function numberArgument(syntax: InterpretationSyntax, argument: ExpressionSyntax, context: LeafContext): NumberValue {
  const { name, frame, loop, layout } = context
  const what = `the ${INTERPRETATIONS[syntax.name][0]} of ${syntax.name}`
  if (argument.kind === 'number') return { kind: 'number', value: BigInt.asUintN(64, argument.value) }
  if (argument.kind === 'reference' && argument.property === 'value') {
    return {
      kind: 'reference',
      position: frame.refer(argument.field, loop, `${what} for ${quote(name.text)}`).position,
    }
  }
  const allowed = layout.version === '1.0' ? 'a number or the value of a field' : 'a number'
  throw meaningError(`${what} must be ${allowed}`, argument.at, 'the field is', name.at)
}

function stringArgument(argument: ExpressionSyntax, { name }: LeafContext): Value {
  if (argument.kind === 'string') return { kind: 'string', value: argument.value }
  throw meaningError('the value of default must be a string', argument.at, 'the field is', name.at)
}

/** A number that must stand in the text itself, modulo 2^64. */
function constant(
  { name: interpretation, arguments: found }: InterpretationSyntax,
  index: 0 | 1,
  { name }: LeafContext,
): bigint {
  const argument = found[index] as ExpressionSyntax
  if (argument.kind === 'number') return BigInt.asUintN(64, argument.value)
  const what = INTERPRETATIONS[interpretation][index] as string
  throw meaningError(`the ${what} of ${interpretation} must be a number`, argument.at, 'the field is', name.at)
}

/** The ID of a section that exists. */
function sectionNumber(syntax: InterpretationSyntax, context: LeafContext): number {
  const section = Number(constant(syntax, 0, context))
  if (context.layout.sections.has(section)) return section
  const { at } = syntax.arguments[0] as ExpressionSyntax
  throw meaningError(`there is no section ${section}`, at, 'the field is', context.name.at)
}
