// The relay as a whole: makes the parts, joins them and ends them together.

import { once } from 'node:events'
import type { AddressInfo, ListenOptions, Server } from 'node:net'
import { AdminApi } from './api/handlers/admin.ts'
import { AdminAuth } from './api/handlers/admin-auth.ts'
import { createPages, warnUnlessBuilt } from './api/handlers/built-in-pages.ts'
import { noOptionalFeatures } from './api/handlers/optional-features.ts'
import { PublicApi } from './api/handlers/public.ts'
import { SdkApi } from './api/handlers/sdk.ts'
import { BodyWriter } from './api/http/body-writer.ts'
import { RequestLog } from './api/http/request-log.ts'
import { createApiServer } from './api/http/server.ts'
import { createRouter } from './api/router.ts'
import { Challenges } from './auth/challenges.ts'
import { LeaseCredentials } from './auth/lease-authorizer.ts'
import { loadIdentity } from './auth/relay-identity.ts'
import { SignerRecovery } from './auth/signer-recovery.ts'
import { TokenIssuer } from './auth/token-issuer.ts'
import { createPipe } from './bridge/pipe.ts'
import { SharedReadBuffer } from './bridge/shared-read-buffer.ts'
import { loadCertificates } from './certificates/certificate-files.ts'
import { CertificateRotation } from './certificates/certificate-rotation.ts'
import { PreviousCertificates } from './certificates/previous-certificates.ts'
import { QuicCertificates } from './certificates/quic-certificate.ts'
import { ClientAddresses } from './client-address/client-addresses.ts'
import { WorkerPool } from './cluster/worker-pool.ts'
import { connectionCapacity, openFilesMax, portListenersMax } from './config/connection-capacity.ts'
import { type Settings, SettingsError } from './config/settings.ts'
import { createDataPlane } from './data-plane.ts'
import { DatagramForwarder } from './datagram/datagram-forwarder.ts'
import { DatagramEndpoint } from './datagram/quic-endpoint.ts'
import { Tunnels } from './datagram/tunnels.ts'
import { KeylessSigner } from './keyless/keyless-signer.ts'
import { LeaseRegistry } from './lease/lease-registry.ts'
import { ReservationJournal } from './lease/reservation-journal.ts'
import { ROOT_ROUTE } from './lease/route.ts'
import { LISTEN_BACKLOG } from './limits.ts'
import { createLog, type Logger } from './log/log.ts'
import { createMetricsServer } from './metrics/metrics-server.ts'
import { AuditLog } from './policy/audit-log.ts'
import { Policy } from './policy/policy.ts'
import { createDedicatedPorts } from './ports/port-listeners.ts'
import { RateLimits } from './rate-limit/rate-limits.ts'
import { unauthenticatedMemory } from './rate-limit/request-memory.ts'
import { Reloader } from './reload.ts'
import { ConnectEndpoint } from './reverse/connect-endpoint.ts'
import { RoutingTable } from './routing/routing-table.ts'
import { type CloseOptions, Shutdown } from './shutdown.ts'
import { sweepTemporaries } from './storage/state-file.ts'
import { WriteHealth } from './storage/write-health.ts'
import { RELEASE_VERSION } from './version.ts'

/** A Relay is a relay that runs. */
export interface Relay {
  /** Where the SNI listener is bound. */
  port: number
  /** Takes certificates and policy from their files anew; what is wrong with them is logged and changes nothing. */
  reload(): Promise<void>
  /** Ends every lease and connection; resolves when nothing of the relay is left. */
  close(options?: CloseOptions): Promise<void>
}

/** @throws SettingsError when the state directory does not fit the settings, or the listener's own error */
export async function startRelay(
  settings: Settings,
  log: Logger = createLog(settings.logLevel),
): Promise<Relay> {
  for (const { name, why } of settings.unused) log.warn({ setting: name }, `${name} does nothing: ${why}`)
  const openFiles = openFilesMax()
  const portListeners = portListenersMax(openFiles, portsWanted(settings))
  const capacity = connectionCapacity(
    openFiles - portListeners,
    settings.portGates.tcp && settings.portRange !== undefined,
  )
  const hasUdp = settings.portGates.udp && settings.portRange !== undefined
  await sweepTemporaries(settings.identityPath)
  const identity = await loadIdentity(settings.identityPath)
  const current = await loadCertificates(settings, log)
  const previous = new PreviousCertificates(settings, log)
  const certificates = new CertificateRotation(current, await previous.load(current))
  const state = new WriteHealth(log)
  const policy = await Policy.load(settings.identityPath, settings.portGates, state)
  const audit = new AuditLog(settings.identityPath, state)
  const routes = new RoutingTable(settings.rootHost, ROOT_ROUTE)
  const journal = await ReservationJournal.open(settings.identityPath, state, log)
  const leases = new LeaseRegistry(routes, journal.reservations, (name) => policy.isReserved(name))
  const credentials = new LeaseCredentials(new TokenIssuer(identity, settings.url.origin), leases)
  const clientAddresses = new ClientAddresses(settings.trustedProxies)
  const rateLimits = new RateLimits(settings.rateLimits)
  const unproven = unauthenticatedMemory()
  const recovery = new SignerRecovery()
  const readBuffer = await SharedReadBuffer.find()
  if (readBuffer === undefined)
    log.warn('this Node reads sockets in a way that is not known here: bridging costs more')
  const dataPlane = createDataPlane({
    processes: settings.workers,
    processIndex: 0,
    clientAddresses,
    routes,
    policy,
    connectionsMax: capacity.connections,
    pipe: createPipe(readBuffer),
    makeRoomElsewhere: (lease) => workers.makeRoom(lease),
    serveRoot: (socket) => api.emit('connection', socket),
    log,
  })
  const { listener, visitors, counters, connectionLimiter, bandwidthOf } = dataPlane
  const isClosing = (): boolean => shutdown.hasBegun
  policy.onChange(() => {
    for (const lease of leases) lease.follow(policy.routes(lease))
  })
  const tunnels = new Tunnels({
    credentials,
    policy,
    counters,
    received: (datagram, lease) => datagrams.fromTunnel(datagram, lease),
    log,
  })
  const tunnelCertificates = new QuicCertificates(settings, certificates)
  const tunnelEndpoint = new DatagramEndpoint(
    tunnelCertificates,
    (connection) => tunnels.accept(connection),
    log,
    async (port, certificate, accept) => {
      const { startQuicProcess } = await import('./datagram/quic-process-handle.ts')
      return startQuicProcess(port, certificate, { accept, dropped: (counts) => counters.drop(counts), log })
    },
  )
  const datagrams = new DatagramForwarder({
    tunnelOf: (lease) => tunnels.of(lease),
    routes: (lease) => policy.routes(lease),
    bandwidthOf,
    counters,
  })
  const sdk = new SdkApi({
    leases,
    durable: () => journal.durable(),
    // Nobody shall come with a token to a process that does not know its lease yet.
    settled: () => workers.settled(),
    challenges: new Challenges(settings.host, unproven),
    recovery,
    rateLimits,
    credentials,
    policy,
    ports: createDedicatedPorts({
      settings,
      policy,
      reservations: journal.reservations,
      serve: (visitor, lease) => dataPlane.serveRaw(visitor, lease),
      connectionsMax: capacity.portConnections,
      // Where every port of the range may be open, the range is the bound: its last port is said to be the last.
      listenersMax: portListeners < portsWanted(settings) ? portListeners : Number.POSITIVE_INFINITY,
      datagrams,
      hasNoTunnels: () => tunnelEndpoint.isMissing,
      log,
    }),
    host: settings.host,
    features: noOptionalFeatures(identity.address),
    releaseVersion: RELEASE_VERSION,
  })
  const connect = new ConnectEndpoint(credentials, policy, counters, clientAddresses)
  const writer = new BodyWriter(clientAddresses)
  const api = createApiServer({
    rootHost: settings.rootHost,
    certificates,
    clientAddresses,
    routing: createRouter({
      origin: settings.url.origin,
      releaseVersion: RELEASE_VERSION,
      installDir: settings.installDir,
      writer,
      clientAddresses,
      rateLimits,
      unproven,
      public: new PublicApi(leases, policy, () => [...state.problems, ...tunnelEndpoint.problems], isClosing),
      adminAuth: new AdminAuth(settings.adminToken, log),
      admin: new AdminApi(policy, audit, { counters, visitors, leases }),
      sdk,
      credentials,
      signer: new KeylessSigner(
        certificates,
        (...claim) => dataPlane.bindings.spend(...claim) || workers.spend(...claim),
      ),
      certificates,
    }),
    connect,
    site: createPages({
      directory: settings.siteDir,
      hasLandingPage: () => policy.settings.landing_page_enabled,
      authority: () => certificates.current.authority?.certificate,
      writer,
    }),
    observer: new RequestLog(counters, log),
    isClosing,
  })
  const workers = new WorkerPool({
    settings,
    publicKey: identity.publicKey,
    certificates,
    policy,
    leases,
    visitors,
    counters,
    connect,
    serveApi: (connection) => api.emit('secureConnection', connection),
    serve: (pending) => dataPlane.serve(pending),
    track: (socket) => shutdown.track(socket),
    log,
  })
  const reloader = new Reloader({ settings, certificates, previous, tunnelCertificates, policy, audit, log })
  const metrics =
    settings.metricsAddress &&
    createMetricsServer({
      counters,
      visitors,
      leases,
      connectionLimiter,
      state,
      tunnelEndpoint: hasUdp ? tunnelEndpoint : undefined,
    })
  const shutdown = new Shutdown({
    listener,
    leases,
    visitors,
    workers,
    closeRest: () => {
      api.close()
      metrics?.close()
      dataPlane.close()
      state.close()
      return [recovery.close(), journal.close(), policy.settled(), tunnelEndpoint.close(), reloader.close()]
    },
    log,
  })
  try {
    await listenForAll(listener, settings)
    await workers.start(settings.sniPort)
    if (metrics) await listen(metrics, settings.metricsAddress).catch(refuseMetricsAddress)
  } catch (error) {
    await shutdown.close()
    throw error
  }
  const { port } = listener.address() as AddressInfo
  if (settings.siteDir === undefined) await warnUnlessBuilt(log)
  if (hasUdp) await tunnelEndpoint.listen(port)
  log.info(
    { url: settings.url.origin, port, address: identity.address, ...capacity, portListeners },
    'listening',
  )
  return { port, reload: () => reloader.reload(), close: (options) => shutdown.close(options) }
}

/** Where several processes listen at one port, another relay could as well, and would take half of the connections. */
async function listenForAll(listener: Server, { sniPort: port, workers }: Settings): Promise<void> {
  await listen(listener, { port, backlog: LISTEN_BACKLOG })
  if (workers === 1) return
  listener.close()
  await once(listener, 'close')
  await listen(listener, { port, backlog: LISTEN_BACKLOG, reusePort: true }).catch((error) => {
    throw error.code === 'ENOTSUP' ? new SettingsError('SVC_WORKERS', 'this system takes only 1') : error
  })
}

async function listen(server: Server, address: ListenOptions | undefined): Promise<void> {
  server.listen(address)
  await once(server, 'listening')
}

function refuseMetricsAddress(error: Error): never {
  throw new SettingsError('METRICS_ADDR', error.message)
}

/** Of each transport that has ports at all, the whole range. */
function portsWanted({ portGates, portRange }: Settings): number {
  if (portRange === undefined) return 0
  return (portRange.max - portRange.min + 1) * (Number(portGates.udp) + Number(portGates.tcp))
}
