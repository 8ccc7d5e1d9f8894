// Parses data from outside by schemas. The only importer of zod.

import type { ErrorCode } from '@svc/protocol'
import { z } from 'zod'
import { RelayError } from '../errors.ts'

export { z }

/** A JSON Schema (2020-12). */
export type JsonSchema = Record<string, unknown>

const NAMED = z.registry<{ id: string }>()
const DESCRIBED = z.registry<JsonSchema>()
const COMPONENTS = '#/components/schemas/'

/** @throws RelayError that names the invalid field; its code is `invalid_request` unless the schema sets another one */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const field = issue === undefined || issue.path.length === 0 ? 'body' : issue.path.join('.')
  const code: ErrorCode | undefined = issue?.code === 'custom' ? issue.params?.code : undefined
  throw new RelayError(code ?? 'invalid_request', `${field}: ${issue?.message ?? 'is not valid'}`)
}

/** A string of at most `maxChars` UTF-16 code units. A longer one fails before later patterns of the schema run. */
export function text(maxChars: number): z.ZodString {
  return z.string().max(maxChars, { abort: true })
}

/** A string that `normalize` accepts. One that it rejects, or that is too long, gets the error `code`. */
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

/** Gives a schema its name in the OpenAPI document. */
export function named<S extends z.ZodType>(id: string, schema: S): S {
  NAMED.add(schema, { id })
  return schema
}

/** A schema for each field of a message. */
type Fields<T> = { [Name in keyof T]-?: z.ZodType<T[Name]> }

/**
 * The schema of a message, for its interface in `@svc/protocol`: the compiler refuses a missing field, an extra one,
 * and one of another type. The interface is the source. Types that zod infers would bring zod into the declarations of
 * every SDK, and each exported schema would need its type written out (`isolatedDeclarations`).
 * @param id its name in the OpenAPI document
 */
export function message<T extends object>(id: string, fields: NoInfer<Fields<T>>): z.ZodType<T> {
  return named(id, z.object(fields) as unknown as z.ZodType<T>)
}

/** Adds keywords of JSON Schema that zod cannot derive from a schema. */
export function described<S extends z.ZodType>(keywords: JsonSchema, schema: S): S {
  DESCRIBED.add(schema, { ...DESCRIBED.get(schema), ...keywords })
  return schema
}

/** A reference to a {@link named} schema within the OpenAPI document. @throws TypeError for another schema */
export function referenceTo(schema: z.ZodType): JsonSchema {
  const id = NAMED.get(schema)?.id
  if (id === undefined) throw new TypeError('only a named schema has a reference')
  return { $ref: `${COMPONENTS}${id}` }
}

/** Every {@link named} schema, as the input that its parser accepts. */
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
