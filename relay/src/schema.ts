// Data from outside, checked against a schema before anything acts on it. The only importer of zod.

import type { ErrorCode } from '@svc/protocol'
import { z } from 'zod'
import { RelayError } from './errors.ts'

export { z }

/** @throws RelayError that names the field at fault; its code is `invalid_request` unless the schema says otherwise */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const field = issue === undefined || issue.path.length === 0 ? 'body' : issue.path.join('.')
  const code: ErrorCode | undefined = issue?.code === 'custom' ? issue.params?.code : undefined
  throw new RelayError(code ?? 'invalid_request', `${field}: ${issue?.message ?? 'is not valid'}`)
}

/** A string that `normalize` makes something of; `code` is what refuses it otherwise. */
export function normalized(
  maxChars: number,
  normalize: (text: string) => string | undefined,
  message: string,
  code: ErrorCode = 'invalid_request',
): z.ZodType<string> {
  return z
    .string()
    .max(maxChars)
    .transform((value, context) => {
      const result = normalize(value)
      if (result !== undefined) return result
      context.addIssue({ code: 'custom', message, params: { code } })
      return z.NEVER
    })
}
