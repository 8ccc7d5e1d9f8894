// Structured logs. Nothing secret is ever handed to a logger; `redact` is the second lock on that door.

import { type DestinationStream, type Logger, pino } from 'pino'
import { LogOutput } from './log-output.ts'

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

const STANDARD_OUTPUT = 1
let standardOutput: LogOutput | undefined

/** @param destination standard output, unless told otherwise */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]),
  }
  if (destination !== undefined) return pino(options, destination)
  standardOutput ??= new LogOutput(STANDARD_OUTPUT)
  return pino(options, standardOutput)
}
