// Creates structured logs. Callers pass no secrets to a logger; `redact` removes them if one does.

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

/** @param destination standard output by default */
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
