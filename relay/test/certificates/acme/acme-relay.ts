// A relay of a public name that gets its certificates from pebble, and what visitors and authorities see of it.

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { freePort } from '../../../../tools/network/free-port.ts'
import type { AcmeServer } from '../../../../tools/programs/pebble.ts'
import { WAIT_TIMEOUT_MS } from '../../../../tools/test-timeouts.ts'
import { createLog, type Logger } from '../../../src/core/log/log.ts'
import { BACKOFF_JITTER_SHARE, BACKOFF_MIN_MS } from '../../../src/features/acme/limits.ts'
import { type Relay, readSettings, startRelay } from '../../../src/index.ts'

export const ACME_HOST = 'relay.test'
/** Covers one order that fails because the machine is busy, the relay's pause after it, and the order after that. */
const FIRST_ANSWER_MAX_MS = (1 + BACKOFF_JITTER_SHARE) * BACKOFF_MIN_MS + 20_000
/** The level in the log. */
const WARNING = 40
/** Of the relay that was started last at each port. */
const logs = new Map<number, Record<string, unknown>[]>()

export interface AcmeRelay {
  port: number
  directory: string
  /** Lines of the log so far. */
  log: Record<string, unknown>[]
  close(): Promise<void>
}

/** The part of an authority that a relay is told of. */
type Authority = Pick<AcmeServer, 'directoryUrl' | 'caFile'>

export function acmeEnv(acme: Authority, port: number, directory: string): Record<string, string> {
  return {
    SVC_URL: `https://${ACME_HOST}:${port}`,
    IDENTITY_PATH: directory,
    ACME_AGREE: 'true',
    ACME_DIRECTORY: acme.directoryUrl,
    ACME_CA: acme.caFile,
    ACME_CHALLENGE: 'tls-alpn-01',
    ACME_ORDERS_PER_HOUR: '100000',
    ACME_CERTIFICATES_PER_WEEK: '100000',
  }
}

export function collectingLog(): { log: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', { write: (line: string) => void lines.push(JSON.parse(line)) } as never)
  return { log, lines }
}

/** The directory stays when the relay is closed. */
export async function startAcmeRelay(
  acme: Authority,
  port: number,
  directory: string,
  env: Record<string, string> = {},
): Promise<AcmeRelay> {
  const { log, lines } = collectingLog()
  logs.set(port, lines)
  const relay: Relay = await startRelay(readSettings({ ...acmeEnv(acme, port, directory), ...env }), log)
  return { port, directory, log: lines, close: () => relay.close() }
}

/** @returns the status of `/api/healthz`; rejects as the connection does. @param ca PEM; undefined: any */
export async function statusOf(port: number, ca?: string): Promise<number> {
  const sent = request({
    host: '127.0.0.1',
    port,
    servername: ACME_HOST,
    path: '/api/healthz',
    headers: { Host: `${ACME_HOST}:${port}` },
    agent: false,
    ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
  })
  sent.end()
  const [response] = await once(sent, 'response')
  response.resume()
  await once(response, 'end')
  return response.statusCode
}

/** Waits for the first answer. Rejects with the relay's warnings, which say what its orders failed for. */
export async function firstAnswer(port: number): Promise<void> {
  const isThere = (): Promise<boolean> =>
    statusOf(port).then(
      (status) => status === 200,
      () => false,
    )
  await waitFor(isThere, FIRST_ANSWER_MAX_MS).catch((cause) => {
    const warnings = logs.get(port)?.filter(({ level }) => Number(level) >= WARNING)
    throw new Error(`no answer: ${JSON.stringify(warnings)}`, { cause })
  })
}

/** The serial number of the certificate that visitors see. */
export async function serialOf(port: number): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, servername: ACME_HOST, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { serialNumber } = socket.getPeerCertificate()
  socket.destroy()
  return serialNumber
}

/** What openssl sees as an ACME authority that asks for a name. */
export async function askChallenge(port: number, name: string, alpn = 'acme-tls/1'): Promise<string> {
  return await new Promise((resolve) => {
    const args = [
      's_client',
      '-connect',
      `127.0.0.1:${port}`,
      '-servername',
      name,
      '-alpn',
      alpn,
      '-showcerts',
    ]
    const child = execFile('openssl', args, { timeout: 60_000 }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    )
    child.stdin?.end()
  })
}

export async function waitFor(
  isThere: () => boolean | Promise<boolean>,
  timeoutMs = WAIT_TIMEOUT_MS,
): Promise<void> {
  const until = performance.now() + timeoutMs
  while (!(await isThere())) {
    if (performance.now() > until) throw new Error('it did not happen in time')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

export async function newDirectory(): Promise<{ directory: string; remove: () => Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-acme-relay-'))
  return { directory, remove: () => rm(directory, { recursive: true }) }
}

export { freePort }
