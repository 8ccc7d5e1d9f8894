// Data from outside, checked against a schema before anything acts on it. The only importer of zod.

import type { ErrorCode } from '@svc/protocol'
import { z } from 'zod'
import { RelayError } from '../errors.ts'

export { z }

/** A JSON Schema (2020-12), as far as this package looks into one. */
export type JsonSchema = Record<string, unknown>

const NAMED = z.registry<{ id: string }>()
const DESCRIBED = z.registry<JsonSchema>()
const COMPONENTS = '#/components/schemas/'

/** @throws RelayError that names the field at fault; its code is `invalid_request` unless the schema says otherwise */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const field = issue === undefined || issue.path.length === 0 ? 'body' : issue.path.join('.')
  const code: ErrorCode | undefined = issue?.code === 'custom' ? issue.params?.code : undefined
  throw new RelayError(code ?? 'invalid_request', `${field}: ${issue?.message ?? 'is not valid'}`)
}

/** A string of at most so many UTF-16 code units. A longer one is refused before a pattern behind this one sees it. */
export function text(maxChars: number): z.ZodString {
  return z.string().max(maxChars, { abort: true })
}

/** A string that `normalize` makes something of; `code` is what refuses it otherwise, and one that is too long. */
export function normalized(
  maxChars: number,
  normalize: (text: string) => string | undefined,
  message: string,
  code: ErrorCode = 'invalid_request',
): z.ZodType<string> {
  const schema = z.string().transform((value, context) => {
    const result = value.length > maxChars ? undefined : normalize(value)
    if (result !== undefined) return result
    context.addIssue({ code: 'custom', message, params: { code } })
    return z.NEVER
  })
  return described({ description: message, maxLength: maxChars }, schema)
}

/** `schema`, under its name in the API's description. */
export function named<S extends z.ZodType>(id: string, schema: S): S {
  NAMED.add(schema, { id })
  return schema
}

/** `schema`, with keywords of JSON Schema that cannot be derived from it. */
export function described<S extends z.ZodType>(keywords: JsonSchema, schema: S): S {
  DESCRIBED.add(schema, { ...DESCRIBED.get(schema), ...keywords })
  return schema
}

/** Refers to a {@link named} schema from within the API's description. */
export function referenceTo(schema: z.ZodType): JsonSchema {
  const id = NAMED.get(schema)?.id
  if (id === undefined) throw new TypeError('only a named schema can be referred to')
  return { $ref: `${COMPONENTS}${id}` }
}

/** Every {@link named} schema, as what its parser accepts. */
export function componentSchemas(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(NAMED, {
    io: 'input',
    uri: (id) => `${COMPONENTS}${id}`,
    override: ({ zodSchema, jsonSchema }) => Object.assign(jsonSchema, DESCRIBED.get(zodSchema)),
  })
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [id, schema as JsonSchema]),
  )
}
