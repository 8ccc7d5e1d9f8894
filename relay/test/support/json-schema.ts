// Values that a JSON Schema of the API's description allows, and the description with nothing left open.

import fc from '../../../tools/fast-check.ts'

export type Schema = Record<string, unknown>
export type Components = Record<string, Schema>

/** Values that `schema` allows; texts are short, since their bounds have tests of their own. */
export function valuesOf(schema: Schema, components: Components): fc.Arbitrary<unknown> {
  const {
    $ref,
    anyOf,
    enum: allowed,
    type,
    properties = {},
    required = [],
    items,
    maxItems,
    pattern,
  } = schema
  if (typeof $ref === 'string') return valuesOf(components[$ref.split('/').at(-1)!]!, components)
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((one) => valuesOf(one, components)))
  if (Array.isArray(type))
    return fc.oneof(...type.map((one) => valuesOf({ ...schema, type: one }, components)))
  if (Array.isArray(allowed)) return fc.constantFrom(...allowed)
  switch (type) {
    case 'object':
      return fc.record(
        Object.fromEntries(
          Object.entries(properties as Components).map(([name, one]) => [name, valuesOf(one, components)]),
        ),
        { requiredKeys: required as string[] },
      )
    case 'array':
      return fc.array(valuesOf(items as Schema, components), { maxLength: maxItems as number })
    case 'string':
      if (typeof pattern !== 'string') return fc.string({ maxLength: 40 })
      if (pattern.includes('https')) return fc.constantFrom('', 'https://site.example/thumbnail.png')
      return pattern.includes('=') ? fc.base64String({ maxLength: 64 }) : fc.constant('00'.repeat(16))
    case 'integer':
      return fc.integer({ min: (schema.minimum as number) < -1000 ? -1000 : 0, max: 1000 })
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true })
    case 'boolean':
      return fc.boolean()
    default:
      throw new TypeError(`no values for ${JSON.stringify(schema)}`)
  }
}

/** The same description, in which an object has the properties it names, or describes, and no other. */
export function closed<T>(value: T): T {
  if (Array.isArray(value)) return value.map(closed) as T
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closed(inner)]))
  return ('type' in copy && copy.type === 'object' ? { additionalProperties: false, ...copy } : copy) as T
}
