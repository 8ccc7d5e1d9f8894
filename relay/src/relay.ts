// The relay as a whole: it makes its parts, lets them listen, and ends them together.

import type { AddressInfo, Server } from 'node:net'
import { warnUnlessBuilt } from './api/handlers/built-in-pages.ts'
import { createPipe } from './bridge/pipe.ts'
import type { Settings } from './config/settings.ts'
import { OpenSockets } from './ingress/open-sockets.ts'
import { type Acme, startAcme } from './lifecycle/acme.ts'
import { measureCapacity } from './lifecycle/capacity.ts'
import { type ControlPlane, createControlPlane } from './lifecycle/control-plane.ts'
import { type Dns, startDns } from './lifecycle/dns.ts'
import { listenForAll, listenForMetrics, listenForRedirects } from './lifecycle/listen.ts'
import { createMetrics } from './lifecycle/metrics.ts'
import { createParts, type RelayParts } from './lifecycle/parts.ts'
import { createRedirects } from './lifecycle/redirects.ts'
import { Reloader } from './lifecycle/reload.ts'
import { type CloseOptions, Shutdown } from './lifecycle/shutdown.ts'
import { openState, type RelayState } from './lifecycle/stored-state.ts'
import { createLog, type Logger } from './log/log.ts'
import { SharedReadBuffer } from './node-internals/shared-read-buffer.ts'

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
 * @throws SettingsError when the state directory does not fit the settings, or the listener's own error
 */
export async function startRelay(
  settings: Settings,
  log: Logger = createLog(settings.logLevel),
): Promise<Relay> {
  for (const { name, why } of settings.unused) log.warn({ setting: name }, `${name} does nothing: ${why}`)
  const capacity = measureCapacity(settings)
  const state = await openState(settings, log)
  const { dns, acme } = await startNames(settings, state, log)
  const readBuffer = await findReadBuffer(log)
  const pipe = createPipe(readBuffer)
  const closing = new AbortController()
  const parts = createParts({ settings, capacity, state, pipe, acme, log })
  const isClosing = (): boolean => closing.signal.aborted
  const controlPlane = await createControlPlane({ ...parts, dns, readBuffer, isClosing })
  const reloader = new Reloader({ ...state, settings, tunnelCertificates: parts.datagrams.certificates, log })
  const metrics = await createMetrics({ ...parts, dns })
  const redirects = await createRedirects(parts)
  const sockets = new OpenSockets()
  const listener = parts.dataPlane.createListener(capacity.connections, controlPlane.serve)
  listener.on('connection', (socket) => sockets.track(socket))
  const closeRest = (): Promise<unknown>[] => {
    const apiClosed = controlPlane.close()
    metrics?.close()
    redirects?.close()
    redirects?.closeAllConnections()
    parts.dataPlane.close()
    const namesClosed = closeNames(dns, acme)
    return [apiClosed, state.close(), parts.datagrams.close(), reloader.close(), namesClosed]
  }
  const shutdown = new Shutdown({ ...parts, leases: state.leases, listener, sockets, closing, closeRest })
  try {
    await listen(parts, { controlPlane, listener, sockets, metrics, redirects })
  } catch (error) {
    await shutdown.close()
    throw error
  }
  acme?.start()
  const port = await announce(parts, listener)
  return { port, reload: () => reloader.reload(), close: (options) => shutdown.close(options) }
}

/** Starts what changes DNS records, and what gets certificates with their help. */
async function startNames(
  settings: Settings,
  state: RelayState,
  log: Logger,
): Promise<{ dns: Dns; acme: Acme | undefined }> {
  let dns: Dns | undefined
  try {
    dns = await startDns({ ...state, settings, log })
    return { dns, acme: await startAcme({ settings, state, dns, log }) }
  } catch (error) {
    await Promise.all([state.close(), dns?.close()])
    throw error
  }
}

/** An order that ends removes its records first. */
async function closeNames(dns: Dns, acme: Acme | undefined): Promise<void> {
  await acme?.close()
  await dns.close()
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
  const { connections, portConnections, portListeners } = capacity
  const { address } = state.identity
  log.info(
    { url: settings.url.origin, port, address, connections, portConnections, portListeners },
    'listening',
  )
  return port
}
