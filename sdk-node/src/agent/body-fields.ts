// Reads the fields of a request's body.

import { AgentError } from './errors.ts'

/** @throws AgentError `invalid_request` */
export function text(body: Record<string, unknown>, field: string): string {
  const value = body[field]
  if (typeof value === 'string') return value
  throw new AgentError('invalid_request', `${field} is not a string`)
}

/** @throws AgentError `invalid_request` */
export function yesOrNo(body: Record<string, unknown>, field: string): boolean {
  const value = body[field]
  if (typeof value === 'boolean') return value
  throw new AgentError('invalid_request', `${field} is not true or false`)
}
