// The relay as a whole: it makes its parts, lets them listen, and ends them together.

import type { AddressInfo } from 'node:net'
import { warnUnlessBuilt } from './core/api/handlers/built-in-pages.ts'
import { measureCapacity } from './core/config/capacity.ts'
import type { Settings } from './core/config/settings.ts'
import { createControlPlane } from './core/control-plane.ts'
import { type Core, createCore } from './core/core.ts'
import { listenForAll } from './core/ingress/listen.ts'
import { OpenSockets } from './core/ingress/open-sockets.ts'
import { createLog, type Logger } from './core/log/log.ts'
import { SharedReadBuffer } from './core/node-internals/shared-read-buffer.ts'
import { Reloader } from './core/reload.ts'
import { type CloseOptions, Shutdown } from './core/shutdown.ts'
import { StartedParts } from './core/started-parts.ts'
import { claimDirectory } from './core/storage/directory-claim.ts'
import { openState, type RelayState } from './core/storage/stored-state.ts'
import { type Prepared, RunningFeatures } from './feature.ts'
import { FEATURES } from './features/index.ts'
import { idleSettingsOf } from './settings.ts'

/** A Relay is a running relay. */
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
  const features = new RunningFeatures()
  const prepared = await features.prepare(FEATURES, settings, { started, log })
  const state = started.add(await openPrepared(settings, prepared, log))
  for (const { name, why } of idleSettingsOf(settings, state.isManaged))
    log.warn({ setting: name }, `${name} does nothing: ${why}`)
  const closing = new AbortController()
  const core = createCore({
    settings,
    capacity,
    state,
    readBuffer: await findReadBuffer(log),
    machineMark: prepared.find(({ machineMark }) => machineMark !== undefined)?.machineMark,
    closing: closing.signal,
    log,
  })
  started.add(core.dataPlane)
  await features.start(FEATURES, core, started)
  const controlPlane = started.add(await createControlPlane(core, features))
  const running = [...features]
  const reloader = started.add(
    new Reloader({ ...state, settings, others: running.flatMap(({ reloaded }) => reloaded ?? []), log }),
  )
  const sockets = new OpenSockets()
  const proveName = running.find((feature) => feature.proveName !== undefined)?.proveName
  const listener = core.dataPlane.createListener({
    connectionsMax: capacity.connections,
    serveRoot: controlPlane.serve,
    proveName,
  })
  listener.on('connection', (socket) => sockets.track(socket))
  const { connect } = controlPlane
  const shutdown = new Shutdown({
    ...core,
    leases: state.leases,
    connect,
    listener,
    sockets,
    closing,
    started,
  })
  try {
    for (const feature of running) await feature.beforeListen?.()
    await listenForAll(listener, settings)
    const { port } = listener.address() as AddressInfo
    for (const feature of running) await feature.listen?.({ ...controlPlane, port, proveName, sockets })
    await announce(core, port)
    return { port, reload: () => reloader.reload(), close: (options) => shutdown.close(options) }
  } catch (error) {
    await shutdown.close()
    throw error
  }
}

async function openPrepared(
  settings: Settings,
  prepared: readonly Prepared[],
  log: Logger,
): Promise<RelayState> {
  const portHost = prepared.find((one) => one.portHost !== undefined)?.portHost
  const isOver = prepared.find((one) => one.isOver !== undefined)?.isOver
  const open = (): Promise<RelayState> => openState(settings, log, { portHost, isOver })
  return await prepared.reduceRight((next, one) => () => one.openState?.(next) ?? next(), open)()
}

async function findReadBuffer(log: Logger): Promise<SharedReadBuffer | undefined> {
  const readBuffer = await SharedReadBuffer.find()
  if (readBuffer === undefined)
    log.warn('this Node reads sockets in a way that is not known here: bridging costs more')
  return readBuffer
}

/** Logs what listens. */
async function announce({ settings, capacity, state, log }: Core, port: number): Promise<void> {
  if (settings.siteDir === undefined) await warnUnlessBuilt(log)
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
}
