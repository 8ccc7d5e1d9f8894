// A relay whose canonical hostnames lead to live sites alone, as those of a snapshot that answers nothing: it ends TLS there
// and passes every request on.

import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { createSecureServer, type Http2SecureServer } from 'node:http2'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { freePort } from '../../../tools/network/free-port.ts'
import { createLeaf } from '../../src/core/certificates/development-ca.ts'
import { measureCapacity } from '../../src/core/config/capacity.ts'
import { createControlPlane } from '../../src/core/control-plane.ts'
import { type Core, createCore } from '../../src/core/core.ts'
import { OpenSockets } from '../../src/core/ingress/open-sockets.ts'
import type { Lease } from '../../src/core/lease/lease.ts'
import type { FeatureRoute } from '../../src/core/lease/route.ts'
import { createLog } from '../../src/core/log/log.ts'
import { SharedReadBuffer } from '../../src/core/node-internals/shared-read-buffer.ts'
import { StartedParts } from '../../src/core/started-parts.ts'
import { openState } from '../../src/core/storage/stored-state.ts'
import { RunningFeatures } from '../../src/feature.ts'
import { LIVE_DEADLINES, type LiveDeadlines } from '../../src/features/static-cache/live-site/limits.ts'
import type { LiveSites } from '../../src/features/static-cache/live-site/live-sites.ts'
import { startLiveSites } from '../../src/features/static-cache/live-site/start-live-sites.ts'
import { workers } from '../../src/features/workers/index.ts'
import { readSettings } from '../../src/settings.ts'
import { newAccount, ROOT_HOST, relayClient, type TestClient } from './relay.ts'
import { openTlsSite, type TlsSite } from './tls-site.ts'

/** The text that a visitor gets when no session of the site came. */
export const AWAY = 'the site is away'

export interface LiveRelay extends TestClient {
  url: string
  caFile: string
  parts: Core
  live: LiveSites
  /** Lines of the log, parsed. */
  log: Record<string, unknown>[]
  /** The active lease at a canonical hostname. */
  leaseOf(hostname: string): Lease | undefined
  close(): Promise<void>
}

/** A site of the SDK, as far as tests of the relay need it. */
export interface SdkSite {
  url: string
  close(): Promise<void>
}

interface SdkSiteOptions {
  fetch: (request: Request, info: { remote?: object }) => Response | Promise<Response>
  certificate?: 'own' | 'shared'
  visitorAddress?: boolean
}

/** Its types need those of the web, which tests of the relay do not have, so the compiler must not follow the import. */
const SDK = join(import.meta.dirname, '../../../sdk-node/src/index.ts')

/** Publishes a site of the SDK in this process. */
export async function publishSite(
  { url, ca }: LiveRelay,
  name: string,
  options: SdkSiteOptions,
): Promise<SdkSite> {
  const { publish } = (await import(SDK)) as { publish(options: object): Promise<SdkSite> }
  const identity = crypto.getRandomValues(new Uint8Array(32))
  return publish({ relay: url, name, ca, identity, ...options })
}

interface Options {
  env?: Record<string, string>
  /** Listens in the worker processes alone, so that every session of a site is in one. */
  onlyInWorkers?: boolean
  hasIssued?: (lease: Lease, leaf: Buffer) => Promise<boolean>
  /** @default what this machine has room for */
  connections?: number
  deadlines?: LiveDeadlines
  closing?: AbortSignal
}

export async function startLiveRelay({
  env = {},
  onlyInWorkers = false,
  hasIssued,
  connections,
  deadlines = LIVE_DEADLINES,
  closing = new AbortController().signal,
}: Options = {}): Promise<LiveRelay> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-relay-'))
  const port = await freePort()
  const url = `https://${ROOT_HOST}:${port}`
  const settings = readSettings({
    SVC_URL: url,
    IDENTITY_PATH: directory,
    SOURCE_BUDGET_PER_MINUTE: '1000000',
    RELAY_BUDGET_PER_MINUTE: '1000000',
    ...env,
  })
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) })
  const capacity = measureCapacity(settings)
  const state = await openState(settings, log)
  const readBuffer = await SharedReadBuffer.find()
  const parts = createCore({
    settings,
    capacity,
    state,
    readBuffer,
    closing: new AbortController().signal,
    log,
  })
  const { dataPlane, visitors, peers } = parts
  const features = new RunningFeatures()
  await features.start([workers], parts, new StartedParts(log))
  const controlPlane = await createControlPlane(parts, features)
  const live = startLiveSites({
    visitorServer: dataPlane.visitorServer,
    visitors,
    certificates: state.certificates,
    hasIssued,
    connections: connections ?? capacity.connections,
    deadlines,
    closing,
    log,
  })
  const leaseOf = (hostname: string): Lease | undefined =>
    [...state.leases].find(({ canonicalHostname }) => canonicalHostname === hostname)
  const server = createServer(parts, live, leaseOf)
  const feature: FeatureRoute = {
    to: 'feature',
    isOpen: () => true,
    serve: async (socket) => void server.emit('connection', socket),
  }
  state.leases.onChange(({ canonicalHostname }) => state.routes.cover(canonicalHostname, feature))
  const sockets = new OpenSockets()
  const listener: Server = dataPlane.createListener({
    connectionsMax: capacity.connections,
    serveRoot: controlPlane.serve,
  })
  listener.on('connection', (socket) => sockets.track(socket))
  if (!onlyInWorkers) await once(listener.listen({ port, reusePort: settings.workers > 1 }), 'listening')
  await features.get(workers)?.listen?.({ ...controlPlane, port, proveName: undefined, sockets })
  const caFile = join(directory, 'ca.pem')
  return {
    ...relayClient(port, await readFile(caFile, 'utf8')),
    url,
    caFile,
    parts,
    live,
    log: lines,
    leaseOf,
    close: async () => {
      await live.close()
      if (listener.listening) listener.close()
      state.leases.close()
      await peers.processes?.end(false)
      sockets.destroyAll()
      dataPlane.close()
      await Promise.all([controlPlane.close(), state.close()])
      await rm(directory, { recursive: true })
    },
  }
}

/** Speaks HTTP/2 and HTTP/1.1, and answers nothing itself. */
function createServer(
  { state, log }: Core,
  live: LiveSites,
  leaseOf: (hostname: string) => Lease | undefined,
): Http2SecureServer {
  const { chainPem, key } = state.certificates.current
  const server = createSecureServer({
    allowHTTP1: true,
    cert: chainPem,
    key: key.export({ type: 'pkcs8', format: 'pem' }),
  })
  const hostOf = ({ headers }: Pick<IncomingMessage, 'headers'>): string =>
    `${headers[':authority'] ?? headers.host}`.replace(/:\d+$/, '')
  server.on('request', async (request, response) => {
    const lease = leaseOf(hostOf(request))
    const address = `${request.headers['x-test-address'] ?? '127.0.0.1'}`
    try {
      const isAnswered = lease !== undefined && (await live.forward(request, response, lease, address))
      if (!isAnswered) response.writeHead(503).end(AWAY)
    } catch (error) {
      log.error({ err: error }, 'a request failed')
      response.stream?.destroy()
    }
  })
  server.on('upgrade', async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const lease = leaseOf(hostOf(request))
    const isAnswered = lease !== undefined && (await live.upgrade(request, socket, head, lease, '127.0.0.1'))
    if (!isAnswered) socket.end(`HTTP/1.1 503 \r\nConnection: close\r\n\r\n${AWAY}`)
  })
  return server
}

/** A lease with a site that a test makes by hand. */
export interface HandMadeSite extends TlsSite {
  lease: Lease
  /** At the canonical hostname. */
  url: string
}

interface HandMadeOptions {
  /** @default one for the canonical hostname, from the development CA */
  certificate?: { chain: string; key: string }
  account?: ReturnType<typeof newAccount>
}

export async function openLiveSite(
  relay: LiveRelay,
  name: string,
  serve: (connection: TLSSocket) => void,
  { certificate, account = newAccount() }: HandMadeOptions = {},
): Promise<HandMadeSite> {
  const { reverse_endpoint } = await relay.register(name, { account })
  const lease = [...relay.parts.state.leases].find(({ identity }) => identity.name === name)!
  const { canonicalHostname: hostname } = lease
  const { authority } = relay.parts.state.certificates.current
  const { chain: cert, key } = certificate ?? createLeaf(authority!, hostname, [hostname])
  const site = await openTlsSite(relay, reverse_endpoint.capability, { cert, key, serve })
  return { ...site, lease, url: `https://${hostname}:${relay.port}` }
}
