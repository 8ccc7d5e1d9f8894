// Selects the header fields that a proxy forwards, without the hop-by-hop ones (RFC 9110 §7.6.1).

import type { Field } from './fields.ts'

/** The hop-by-hop fields. The field Connection names more. */
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
 * @param others more fields to drop, in lower case
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
