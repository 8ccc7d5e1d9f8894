// Creates structured logs. Callers pass no secrets to a logger; `redact` removes them if one does.

import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'
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

/** Fields of the system's errors. Others may hold what a visitor or a site sent, as `rawPacket` of Node's HTTP parser does. */
const ERROR_FIELDS = ['code', 'errno', 'syscall', 'address', 'port', 'path'] as const

function errorForLog(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { type, message, stack } = stdSerializers.err(error)
  const fields = ERROR_FIELDS.flatMap((field) =>
    field in error ? [[field, error[field as keyof Error]]] : [],
  )
  return {
    type,
    message,
    stack,
    ...Object.fromEntries(fields),
    ...(error instanceof AggregateError && { aggregateErrors: error.errors.map(errorForLog) }),
  }
}

/** @param destination standard output by default */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: errorForLog },
    redact: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]),
  }
  if (destination !== undefined) return pino(options, destination)
  standardOutput ??= new LogOutput(STANDARD_OUTPUT)
  return pino(options, standardOutput)
}
