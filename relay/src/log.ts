// Structured logs. Nothing secret is ever handed to a logger; `redact` is the second lock on that door.

import { type Logger, pino } from 'pino'

export type { Logger }

const SECRET_FIELDS = [
  'access_token',
  'capability',
  'token',
  'private_key',
  'siwe_signature',
  'signature',
  'binding',
]

export function createLog(level: string): Logger {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]),
  })
}
