// The relay as a whole: it makes its parts, lets them listen, and ends them together.

import type { AddressInfo, Server } from 'node:net'
import { warnUnlessBuilt } from './core/api/handlers/built-in-pages.ts'
import { createPipe } from './core/bridge/pipe.ts'
import { idleSettingsOf, type Settings } from './core/config/settings.ts'
import { OpenSockets } from './core/ingress/open-sockets.ts'
import { refuseOverlayPeers } from './core/ingress/refuse-overlay-peers.ts'
import { createLog, type Logger } from './core/log/log.ts'
import { SharedReadBuffer } from './core/node-internals/shared-read-buffer.ts'
import { claimDirectory } from './core/storage/directory-claim.ts'
import { startAcme } from './lifecycle/acme.ts'
import { measureCapacity } from './lifecycle/capacity.ts'
import { createCluster, joinCluster } from './lifecycle/cluster.ts'
import { type ControlPlane, createControlPlane } from './lifecycle/control-plane.ts'
import { startRelayDiscovery } from './lifecycle/discovery.ts'
import { startDns } from './lifecycle/dns.ts'
import { startRelayHops } from './lifecycle/hops.ts'
import { listenForAll, listenForMetrics, listenForRedirects } from './lifecycle/listen.ts'
import { createMetrics } from './lifecycle/metrics.ts'
import { type Overlay, startOverlay } from './lifecycle/overlay.ts'
import { createParts, type RelayParts } from './lifecycle/parts.ts'
import { startPayment } from './lifecycle/payment.ts'
import { createRedirects } from './lifecycle/redirects.ts'
import { Reloader } from './lifecycle/reload.ts'
import { type CloseOptions, Shutdown } from './lifecycle/shutdown.ts'
import { StartedParts } from './lifecycle/started-parts.ts'
import { startStaticCache } from './lifecycle/static-cache.ts'
import { openState, type RelayState } from './lifecycle/stored-state.ts'

/** A Relay is a relay that runs. */
export interface Relay {
  /** The port that the SNI listener is bound to. */
  port: number
  /** Reads certificates and policy from their files again; logs what is wrong with them, and then changes nothing. */
  reload(): Promise<void>
  /** Ends every lease and connection; resolves when nothing of the relay is left. */
  close(options?: CloseOptions): Promise<void>
}

/**
 * startRelay starts a relay; resolves when it listens.
 * @throws SettingsError when the state directory does not fit the settings or is another relay's, or the listener's own error; nothing of the relay is left then
 */
export async function startRelay(
  settings: Settings,
  log: Logger = createLog(settings.logLevel),
): Promise<Relay> {
  for (const { name, why } of settings.unused) log.warn({ setting: name }, `${name} does nothing: ${why}`)
  const started = new StartedParts(log)
  try {
    return await startParts(settings, started, log)
  } catch (error) {
    await started.close()
    throw error
  }
}

/** @param started gets every part that has to be ended, as soon as it is there */
async function startParts(settings: Settings, started: StartedParts, log: Logger): Promise<Relay> {
  started.add(await claimDirectory(settings.identityPath, log))
  const capacity = measureCapacity(settings)
  const cluster = started.add(await createCluster(settings, log))
  const open = (): Promise<RelayState> =>
    openState(settings, log, cluster && ((...lease) => cluster.isOver(...lease)))
  const state = started.add(await (cluster === undefined ? open() : cluster.openState(open)))
  for (const { name, why } of idleSettingsOf(settings, state.isManaged))
    log.warn({ setting: name }, `${name} does nothing: ${why}`)
  const dns = started.add(await startDns({ ...state, settings, log }))
  const acme = started.add(await startAcme({ settings, state, dns, cluster, log }))
  const readBuffer = await findReadBuffer(log)
  const pipe = createPipe(readBuffer)
  const closing = new AbortController()
  const parts = createParts({ settings, capacity, state, pipe, acme, cluster, log })
  const sharing = joinCluster(parts, readBuffer)
  started.add(parts.dataPlane)
  started.add(parts.datagrams)
  const staticCache = started.add(
    await startStaticCache({
      ...parts,
      closing: closing.signal,
      hasIssued: async (...certificate) => controlPlane.hasIssued(...certificate),
    }),
  )
  const payment = await startPayment(parts)
  let overlay: Overlay | undefined
  const discovery = started.add(await startRelayDiscovery(parts, () => overlay?.own))
  overlay = started.add(await startOverlay(parts, discovery))
  const hops = started.add(
    await startRelayHops(parts, overlay, (socket) => void listener.emit('connection', socket)),
  )
  const controlPlane: ControlPlane = started.add(
    await createControlPlane({
      ...parts,
      dns,
      staticCache,
      payment,
      discovery,
      gateways: overlay?.gateways,
      hops,
      sharing,
      readBuffer,
      isClosing: () => closing.signal.aborted,
    }),
  )
  const reloader = started.add(
    new Reloader({ ...state, settings, tunnelCertificates: parts.datagrams.certificates, log }),
  )
  const metrics = started.add(
    await createMetrics(parts, [
      parts.datagrams,
      dns,
      staticCache,
      payment,
      discovery,
      overlay,
      hops,
      parts.cluster,
    ]),
  )
  const redirects = await createRedirects(parts)
  started.add({
    close: () => {
      redirects?.close()
      redirects?.closeAllConnections()
    },
  })
  const sockets = new OpenSockets()
  const listener = parts.dataPlane.createListener(capacity.connections, controlPlane.serve)
  listener.on('connection', (socket) => sockets.track(socket))
  const shutdown = new Shutdown({
    ...parts,
    connect: controlPlane.connect,
    leases: state.leases,
    listener,
    sockets,
    closing,
    started,
  })
  try {
    await cluster?.start()
    await listen(parts, { controlPlane, listener, sockets, metrics, redirects })
    await overlay?.listen()
    acme?.start()
    if (discovery !== undefined) await state.certificates.first(async () => discovery.start())
    const port = await announce(parts, listener)
    return { port, reload: () => reloader.reload(), close: (options) => shutdown.close(options) }
  } catch (error) {
    await shutdown.close()
    throw error
  }
}

async function findReadBuffer(log: Logger): Promise<SharedReadBuffer | undefined> {
  const readBuffer = await SharedReadBuffer.find()
  if (readBuffer === undefined)
    log.warn('this Node reads sockets in a way that is not known here: bridging costs more')
  return readBuffer
}

interface Listeners {
  controlPlane: ControlPlane
  listener: Server
  sockets: OpenSockets
  metrics: Server | undefined
  redirects: Server | undefined
}

async function listen(
  { settings, workers, dataPlane, acme }: RelayParts,
  listeners: Listeners,
): Promise<void> {
  const { controlPlane, listener, sockets, metrics, redirects } = listeners
  if (settings.overlay.wireguardPort !== undefined) refuseOverlayPeers(listener, metrics, redirects)
  await listenForAll(listener, settings)
  await workers.start(settings.sniPort, {
    serveApi: controlPlane.serveDecrypted,
    connect: controlPlane.connect,
    visitorServer: dataPlane.visitorServer,
    proveName: acme?.proveName,
    sockets,
  })
  if (metrics) await listenForMetrics(metrics, settings)
  if (redirects) await listenForRedirects(redirects, settings)
}

/** Logs what listens; datagram tunnels come in at the number of the listener's port. */
async function announce(
  { settings, capacity, state, datagrams, log }: RelayParts,
  listener: Server,
): Promise<number> {
  const { port } = listener.address() as AddressInfo
  if (settings.siteDir === undefined) await warnUnlessBuilt(log)
  if (settings.portGates.udp && settings.portRange !== undefined)
    await state.certificates.first(() => datagrams.endpoint.listen(port))
  const { connections, portConnections, overlayConnections, portListeners } = capacity
  const { address } = state.identity
  log.info(
    {
      url: settings.url.origin,
      port,
      address,
      connections,
      portConnections,
      overlayConnections,
      portListeners,
    },
    'listening',
  )
  return port
}
