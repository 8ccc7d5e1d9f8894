// The relay as a whole: it makes its parts, lets them listen, and ends them together.

import type { AddressInfo, Server } from 'node:net'
import { warnUnlessBuilt } from './core/api/handlers/built-in-pages.ts'
import { createPipe } from './core/bridge/pipe.ts'
import { measureCapacity } from './core/config/capacity.ts'
import { idleSettingsOf, type Settings } from './core/config/settings.ts'
import { type ControlPlane, createControlPlane } from './core/control-plane.ts'
import { listenForAll } from './core/ingress/listen.ts'
import { OpenSockets } from './core/ingress/open-sockets.ts'
import { createLog, type Logger } from './core/log/log.ts'
import { SharedReadBuffer } from './core/node-internals/shared-read-buffer.ts'
import { Reloader } from './core/reload.ts'
import { type CloseOptions, Shutdown } from './core/shutdown.ts'
import { StartedParts } from './core/started-parts.ts'
import { claimDirectory } from './core/storage/directory-claim.ts'
import { openState, type RelayState } from './core/storage/stored-state.ts'
import { RunningFeatures } from './feature.ts'
import { cluster as clusterFeature } from './features/cluster/index.ts'
import { FEATURES } from './features/index.ts'
import { findPortHost } from './features/ports/port-host.ts'
import { startAcme } from './lifecycle/acme.ts'
import { createCluster, joinCluster } from './lifecycle/cluster.ts'
import { startDns } from './lifecycle/dns.ts'
import { createPrimary, type Primary } from './lifecycle/primary.ts'

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
  const portHost = started.add(await findPortHost(settings, log))
  const open = (): Promise<RelayState> =>
    openState(settings, portHost.current, log, cluster && ((...lease) => cluster.isOver(...lease)))
  const state = started.add(await (cluster === undefined ? open() : cluster.openState(open)))
  for (const { name, why } of idleSettingsOf(settings, state.isManaged))
    log.warn({ setting: name }, `${name} does nothing: ${why}`)
  const dns = started.add(await startDns({ ...state, settings, log }))
  const acme = started.add(await startAcme({ settings, state, dns, cluster, log }))
  const readBuffer = await findReadBuffer(log)
  const closing = new AbortController()
  const core = createPrimary({
    settings,
    capacity,
    state,
    pipe: createPipe(readBuffer),
    acme,
    cluster,
    closing: closing.signal,
    hasIssued: async (...certificate) => controlPlane.hasIssued(...certificate),
    serveVisitor: (socket) => void listener.emit('connection', socket),
    log,
  })
  const sharing = joinCluster(core, readBuffer)
  started.add(core.dataPlane)
  started.add(core.datagrams)
  const features = new RunningFeatures()
  features.add({}, dns)
  features.add({}, { metrics: (metrics) => core.datagrams.metrics(metrics) })
  if (cluster !== undefined)
    features.add(clusterFeature, {
      snapshots: cluster.snapshots,
      metrics: (metrics) => cluster.metrics(metrics),
    })
  await features.start(FEATURES, core, started)
  const controlPlane: ControlPlane = started.add(
    await createControlPlane({ ...core, features, sharing, readBuffer }),
  )
  const reloader = started.add(
    new Reloader({ ...state, settings, tunnelCertificates: core.datagrams.certificates, log }),
  )
  const sockets = new OpenSockets()
  const listener = core.dataPlane.createListener(capacity.connections, controlPlane.serve)
  listener.on('connection', (socket) => sockets.track(socket))
  const shutdown = new Shutdown({
    ...core,
    connect: controlPlane.connect,
    leases: state.leases,
    listener,
    sockets,
    closing,
    started,
  })
  try {
    await cluster?.start()
    await listen(core, { controlPlane, listener, sockets })
    acme?.start()
    for (const feature of features) await feature.listen?.()
    const port = await announce(core, listener)
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
}

async function listen(
  { settings, workers, dataPlane, acme }: Primary,
  { controlPlane, listener, sockets }: Listeners,
): Promise<void> {
  await listenForAll(listener, settings)
  await workers.start(settings.sniPort, {
    serveApi: controlPlane.serveDecrypted,
    connect: controlPlane.connect,
    visitorServer: dataPlane.visitorServer,
    proveName: acme?.proveName,
    sockets,
  })
}

/** Logs what listens; datagram tunnels come in at the number of the listener's port. */
async function announce(
  { settings, capacity, state, datagrams, log }: Primary,
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
