// A real relay on a free port with a state directory of its own, and the raw clients that tests speak to it with.

import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect as connectTcp, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls'
import type { Envelope, RegisterChallengeResponse, RegisterResponse } from '@svc/protocol'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { freePort } from '../../../tools/network/free-port.ts'
import { trusting } from '../../../tools/tls/trusting.ts'
import { createLog, type Logger } from '../../src/core/log/log.ts'
import type { DiscoveryLimits } from '../../src/features/discovery/settings.ts'
import type { OverlayLimits } from '../../src/features/overlay/settings.ts'
import { type CloseOptions, type Relay, readSettings, type Settings, startRelay } from '../../src/index.ts'

export { freePort }

export const ROOT_HOST = 'relay.localhost'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The parsed body; meaningless when it is not JSON. */
  json: Envelope<never> & { data?: unknown; error?: unknown }
}

/** A raw client of the relay. */
export interface TestClient {
  port: number
  origin: string
  ca: string
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  register(name: string, options?: RegisterOptions): Promise<RegisterResponse>
  tcp(): Promise<Socket>
  tls(serverName: string, options?: ConnectionOptions): TLSSocket
}

export interface TestRelay extends TestClient {
  directory: string
  /** Stops the relay; its directory stays. */
  stop(options?: CloseOptions): Promise<void>
  close(): Promise<void>
}

interface RegisterOptions {
  account?: ReturnType<typeof newAccount>
  [field: string]: unknown
}

export function newAccount() {
  return privateKeyToAccount(generatePrivateKey())
}

/** What a test changes of limits that no setting names. */
export interface TestLimits {
  discovery?: Partial<DiscoveryLimits>
  overlay?: Partial<OverlayLimits>
}

/** @param life what a relay shares with the one before it, or shows of itself */
export async function startTestRelay(
  env: Record<string, string> = {},
  life: { directory?: string; log?: Logger; limits?: TestLimits } = {},
): Promise<TestRelay> {
  const directory = life.directory ?? (await mkdtemp(join(tmpdir(), 'svc-relay-')))
  const port = env.SNI_PORT === undefined ? await freePort() : Number(env.SNI_PORT)
  const settings = {
    SVC_URL: `https://${ROOT_HOST}:${port}`,
    IDENTITY_PATH: directory,
    // All clients of a test have one address.
    SOURCE_BUDGET_PER_MINUTE: '1000000',
    RELAY_BUDGET_PER_MINUTE: '1000000',
    ...env,
  }
  const relay: Relay = await startRelay(
    withLimits(readSettings(settings), life.limits),
    life.log ?? createLog('silent'),
  )
  const ca = await readFile(join(directory, 'ca.pem'), 'utf8')
  return {
    ...relayClient(port, ca),
    directory,
    stop: (options) => relay.close(options),
    close: async () => {
      await relay.close()
      await rm(directory, { recursive: true })
    },
  }
}

function withLimits(settings: Settings, { discovery = {}, overlay = {} }: TestLimits = {}): Settings {
  return {
    ...settings,
    discovery: { ...settings.discovery, limits: discovery },
    overlay: { ...settings.overlay, limits: overlay },
  }
}

export function relayClient(port: number, ca: string, host: string = ROOT_HOST): TestClient {
  const client: TestClient = {
    port,
    origin: `https://${host}:${port}`,
    ca,
    call: (method, path, body, headers) => call({ port, ca, host }, method, path, body, headers),
    register: (name, options) => register(client, name, options),
    tcp: async () => {
      const socket = connectTcp({ host: '127.0.0.1', port })
      socket.on('error', () => {})
      await once(socket, 'connect')
      return socket
    },
    tls: (servername, options = {}) => {
      const socket = connectTls({ host: '127.0.0.1', port, servername, ca, ...options })
      socket.on('error', () => {})
      return socket
    },
  }
  return client
}

/** Registers a lease with two calls. */
export async function register(
  relay: Pick<TestClient, 'call'>,
  name: string,
  { account = newAccount(), ...fields }: RegisterOptions = {},
): Promise<RegisterResponse> {
  const identity = { name, address: account.address }
  const challenged = await relay.call('POST', '/sdk/register/challenge', { identity, ...fields })
  if (challenged.status !== 201) throw new Error(challenged.text)
  const challenge = challenged.json.data as RegisterChallengeResponse
  const registered = await relay.call('POST', '/sdk/register', {
    challenge_id: challenge.challenge_id,
    siwe_message: challenge.siwe_message,
    siwe_signature: await account.signMessage({ message: challenge.siwe_message }),
  })
  if (registered.status !== 201) throw new Error(registered.text)
  return registered.json.data as RegisterResponse
}

/** @returns everything that arrives until the other side ends */
export async function readAll(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  if (!socket.closed) await once(socket, 'close')
  return Buffer.concat(chunks)
}

async function call(
  { port, ca, host }: { port: number; ca: string; host: string },
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
  const type: Record<string, string> = text === undefined ? {} : { 'Content-Type': 'application/json' }
  const request = httpsRequest({
    host: '127.0.0.1',
    servername: host,
    port,
    ...trusting(ca),
    method,
    path,
    headers: { Host: `${host}:${port}`, ...type, ...headers },
  })
  request.end(text)
  const [response] = await once(request, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const answer = Buffer.concat(chunks).toString()
  return { status: response.statusCode, headers: response.headers, text: answer, json: parse(answer) }
}

function parse(text: string): Answer['json'] {
  try {
    return JSON.parse(text)
  } catch {
    return {} as Answer['json']
  }
}
