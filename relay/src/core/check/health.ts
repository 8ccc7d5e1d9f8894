// Asks the relay that the settings describe, on this machine, for its health.

import type { IncomingMessage } from 'node:http'
// biome-ignore lint/plugin: No other server is asked, only the relay itself, at the loopback address.
import { type RequestOptions, request } from 'node:https'
import { checkServerIdentity, type TLSSocket } from 'node:tls'
import { PATH } from '@svc/protocol'
import type { CoreSettings } from '../config/settings.ts'
import { parseEnvelope, readBoundedText } from '../http/envelope-answer.ts'

/** Time for one answer to `svc-relay healthcheck`, in milliseconds. Supervisors wait longer: Docker by default 30 s. */
const HEALTH_DEADLINE_MS = 5_000
/** UTF-16 code units that `svc-relay healthcheck` reads of the response, which has one line. */
const HEALTH_RESPONSE_MAX_CHARS = 16_384

export interface Health {
  /** Whether work may be sent to the relay; also true of a relay that is `degraded`. */
  isServing: boolean
  /** One line for the operator. */
  message: string
}

const LOOPBACK = ['127.0.0.1', '::1']
const OK = 200
/** The alert of a relay that waits for its first certificate, as OpenSSL names it. */
const WITHOUT_CERTIFICATE = 'tlsv1 alert internal error'
/** Characters of an unexpected response that the message quotes. */
const QUOTE_MAX_CHARS = 80

/** Never rejects: the message names any failure. */
export async function askHealth(settings: CoreSettings): Promise<Health> {
  const failures: string[] = []
  const signal = AbortSignal.timeout(HEALTH_DEADLINE_MS)
  for (const address of settings.listenAddress === undefined ? LOOPBACK : [settings.listenAddress]) {
    try {
      return await ask(address, settings, signal)
    } catch (error) {
      failures.push(reasonOf(error))
    }
  }
  const where = `port ${settings.sniPort} of this machine`
  return {
    isServing: false,
    message: `No relay for ${settings.rootHost} answers at ${where}: ${failures[0]}`,
  }
}

/** @throws Error when there is no response, or another server responds */
async function ask(
  address: string,
  { host, rootHost, sniPort }: CoreSettings,
  signal: AbortSignal,
): Promise<Health> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const options: RequestOptions = {
    host: address,
    port: sniPort,
    servername: rootHost,
    path: PATH.health,
    headers: { Host: host },
    agent: false,
    signal,
    // Nothing secret goes to the relay, which is on this machine. Its certificate may be one that only some trust.
    rejectUnauthorized: false,
  }
  request(options, resolve).on('error', reject).end()
  const response = await promise
  const mismatch = checkServerIdentity(rootHost, (response.socket as TLSSocket).getPeerCertificate())
  if (mismatch) throw mismatch
  return healthOf(response.statusCode, await readBoundedText(response, HEALTH_RESPONSE_MAX_CHARS))
}

function healthOf(status: number | undefined, text: string): Health {
  const { data: given, error } = parseEnvelope(text)
  const data: { status?: unknown; message?: unknown } = Object(given)
  const state = typeof data.status === 'string' ? data.status : undefined
  if (status !== OK || state === undefined)
    return {
      isServing: false,
      message: `The answer is ${status}: ${error?.message ?? text.slice(0, QUOTE_MAX_CHARS)}`,
    }
  return { isServing: true, message: typeof data.message === 'string' ? `${state}: ${data.message}` : state }
}

function reasonOf(error: unknown): string {
  const { name, message } = error as Error
  if (message.includes(WITHOUT_CERTIFICATE)) return 'it listens, and has no certificate yet; its log says why'
  // OpenSSL ends its messages with a line break.
  return name === 'TimeoutError' ? `no answer within ${HEALTH_DEADLINE_MS / 1000} s` : message.trim()
}
