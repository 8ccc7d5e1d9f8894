// Selects the header fields that a proxy passes on, without those about one connection (RFC 9110 §7.6.1).

import type { Field } from './fields.ts'

/** The fields about one connection. The field Connection names more of them. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Returns the end-to-end fields, in their order.
 * @param others fields to drop as well, in lower case
 */
export function endToEnd(fields: Iterable<Field>, others: readonly string[] = []): Field[] {
  const named = new Set(others)
  const kept: Field[] = []
  for (const field of fields) {
    if (field[0] === 'connection')
      for (const option of field[1].toLowerCase().split(',')) named.add(option.trim())
    else if (!HOP_BY_HOP.has(field[0])) kept.push(field)
  }
  return named.size === 0 ? kept : kept.filter(([name]) => !named.has(name))
}
