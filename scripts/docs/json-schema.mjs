/** The text of a JSON Schema. */
export function schemaText(title, description, schema) {
  return `${JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', title, description, ...schema }, null, 2)}\n`
}

/** An object that has all of these fields, and no others. */
export function all(properties, description) {
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  }
}

/** Columns of whole numbers of the same length: their ranges, and what they are. */
export function table(description, columns, about) {
  const properties = Object.entries(columns).map(([name, [minimum, maximum]]) => [
    name,
    { type: 'array', description: about[name], items: { type: 'integer', minimum, maximum } },
  ])
  return all(Object.fromEntries(properties), description)
}
