/** A JSON Schema of the few keywords that the project's own schema uses. */
export interface Schema {
  $ref?: string
  $defs?: Record<string, Schema>
  oneOf?: Schema[]
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  minItems?: number
  minProperties?: number
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
}

/** Whether a value is as the schema says; `root` holds the definitions. Numbers are compared as doubles. */
export function conforms(value: unknown, schema: Schema, root: Schema): boolean {
  if (schema.$ref !== undefined) {
    const definition = root.$defs?.[schema.$ref.replace('#/$defs/', '')]
    if (definition === undefined) throw new Error(`no definition of ${schema.$ref}`)
    return conforms(value, definition, root)
  }
  if (schema.oneOf !== undefined && schema.oneOf.filter((one) => conforms(value, one, root)).length !== 1) return false
  if (schema.const !== undefined && value !== schema.const) return false
  if (schema.enum !== undefined && !schema.enum.includes(value)) return false
  if (schema.type !== undefined && ![schema.type].flat().some((type) => hasType(value, type))) return false
  if (typeof value === 'string')
    return (
      value.length >= (schema.minLength ?? 0) &&
      (schema.pattern === undefined || new RegExp(schema.pattern, 'u').test(value))
    )
  if (typeof value === 'number') return value >= (schema.minimum ?? -Infinity) && value <= (schema.maximum ?? Infinity)
  if (Array.isArray(value))
    return (
      value.length >= (schema.minItems ?? 0) &&
      value.every((item) => schema.items === undefined || conforms(item, schema.items, root))
    )
  return typeof value !== 'object' || value === null || hasProperties(value as Record<string, unknown>, schema, root)
}

function hasProperties(value: Record<string, unknown>, schema: Schema, root: Schema): boolean {
  if (Object.keys(value).length < (schema.minProperties ?? 0)) return false
  if (schema.required?.some((key) => !Object.hasOwn(value, key))) return false
  return Object.entries(value).every(([key, item]) => {
    const { properties = {}, additionalProperties = true } = schema
    const property = (Object.hasOwn(properties, key) ? properties[key] : undefined) ?? additionalProperties
    return typeof property === 'boolean' ? property : conforms(item, property, root)
  })
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value)
    case 'array':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    default:
      return typeof value === type
  }
}
