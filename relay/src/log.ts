// Structured logs. Nothing secret is ever handed to a logger; `redact` is the second lock on that door.

import { type DestinationStream, type Logger, pino } from 'pino'

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

/** @param destination standard output, unless told otherwise */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]),
  }
  return destination === undefined ? pino(options) : pino(options, destination)
}
