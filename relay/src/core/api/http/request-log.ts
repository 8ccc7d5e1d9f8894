// Gives each API request an ID, counts it and logs it after its response.

import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { PATH } from '@svc/protocol'
import { RelayError } from '../../errors.ts'
import type { Logger } from '../../log/log.ts'
import type { RelayCounters } from '../../metrics/relay-counters.ts'
import { StateFileError } from '../../storage/state-file.ts'

const ID_BYTES = 8
const BAD_REQUEST = 400
const INTERNAL_SERVER_ERROR = 500

/** The route in metrics of a request that the parser refused. */
const MALFORMED = 'malformed'

export interface RequestLogEntry {
  /** An ID that the relay creates, so that clients cannot write into the log. */
  id: string
  /** Converts an error to the client's. An unexpected error is logged with the ID that the response contains. */
  failed(error: unknown): RelayError
  /** Counts and logs the response. */
  responded(status: number): void
}

export class RequestLog {
  readonly #counters: RelayCounters
  readonly #log: Logger

  constructor(counters: RelayCounters, log: Logger) {
    this.#counters = counters
    this.#log = log
  }

  /** @param route a path of the routing table, which bounds the number of routes */
  begin({ method }: IncomingMessage, route: string): RequestLogEntry {
    const id = randomBytes(ID_BYTES).toString('hex')
    const start = performance.now()
    return {
      id,
      failed: (error) => this.#failed(id, error),
      responded: (status) => {
        this.#counters.requests.add({ route, status: `${status}` })
        if (route === PATH.sign && method === 'POST')
          this.#counters.signatures.add({ outcome: outcomeOf(status) })
        const ms = Math.round(performance.now() - start)
        this.#log.debug({ request: id, method, route, status, ms }, 'request')
      },
    }
  }

  malformed(status: number): void {
    this.#counters.requests.add({ route: MALFORMED, status: `${status}` })
  }

  #failed(id: string, error: unknown): RelayError {
    const refusal = refusalOf(error, id)
    if (refusal !== error) this.#log.error({ request: id, err: error }, 'request failed')
    this.#counters.refusals.add({ code: refusal.code })
    return refusal
  }
}

function refusalOf(error: unknown, id: string): RelayError {
  if (error instanceof RelayError) return error
  const what =
    error instanceof StateFileError
      ? 'the relay cannot write to its disk, and nothing has changed'
      : 'the relay failed to handle the request'
  return new RelayError('internal', `${what}; its log has the reason for request ${id}`)
}

function outcomeOf(status: number): 'signed' | 'refused' | 'failed' {
  if (status < BAD_REQUEST) return 'signed'
  return status < INTERNAL_SERVER_ERROR ? 'refused' : 'failed'
}
