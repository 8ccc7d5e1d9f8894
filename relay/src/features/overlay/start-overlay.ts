// Starts the overlay: its network, its server for peers, and gateways.

import { isLocalhost, SettingsError } from '../../core/config/settings.ts'
import type { Core } from '../../core/core.ts'
import type { Measured } from '../../core/metrics/metrics.ts'
import type { OwnOverlay, RunningDiscovery } from '../discovery/index.ts'
import { createGateways, type Gateways } from './gateways/start-gateways.ts'
import type { GivenOverlay } from './overlay-config.ts'
import type { OverlayNetwork } from './overlay-network.ts'
import type { OverlayHandler, OverlayTable, OverlayUpgrade } from './overlay-server.ts'

/** Handlers by `METHOD /path`, and upgrades by path. */
interface Table extends OverlayTable {
  handlers: Map<string, OverlayHandler>
  upgrades: Map<string, OverlayUpgrade>
}

export interface Overlay extends Measured {
  /** What the relay's descriptor states about the overlay; undefined while it is down. */
  readonly own: OwnOverlay | undefined
  readonly network: OverlayNetwork
  /** The requests that peers may make. Features add theirs before {@link listen}. */
  readonly table: Table
  /** Undefined unless the operator turned them on. */
  readonly gateways: Gateways | undefined
  /** Lets peers in. @throws SettingsError when the address of a given network is not available */
  listen(): Promise<void>
  close(): Promise<void>
}

/** @throws SettingsError when the file of OVERLAY_CONFIG, or wireguard.json, cannot be used */
export async function startOverlay(parts: Core, discovery: RunningDiscovery): Promise<Overlay> {
  const { configFile, wireguardPort } = parts.settings.overlay
  const given = configFile === undefined ? undefined : await readGiven(configFile, wireguardPort)
  if (given !== undefined) return await startGiven(parts, discovery, given)
  return await startWireGuard(parts, discovery, {
    wireguardPort: wireguardPort!,
    hasGateways: configFile !== undefined,
  })
}

/** @returns undefined when the file names the network that WIREGUARD_PORT makes */
async function readGiven(path: string, wireguardPort: number | undefined): Promise<GivenOverlay | undefined> {
  const { readOverlayConfig } = await import('./overlay-config.ts')
  const config = await readOverlayConfig(path)
  if (config.kind === 'given' && wireguardPort !== undefined)
    throw new SettingsError(
      'OVERLAY_CONFIG',
      'has to name the network "wireguard" where WIREGUARD_PORT is set',
    )
  if (config.kind === 'wireguard' && wireguardPort === undefined)
    throw new SettingsError('OVERLAY_CONFIG', 'the network "wireguard" needs WIREGUARD_PORT')
  return config.kind === 'given' ? config : undefined
}

/** A given network has no key. */
const GIVEN: OwnOverlay = { wireguardPublicKey: '', wireguardPort: 0 }

async function startGiven(parts: Core, discovery: RunningDiscovery, config: GivenOverlay): Promise<Overlay> {
  const { GivenNetwork } = await import('./given-network.ts')
  const network = new GivenNetwork(config, discovery.peers)
  const served = await createServer(parts, discovery, network, true)
  return {
    ...served,
    own: GIVEN,
    listen: () =>
      served.listen(config.port).catch((error: Error) => {
        throw new SettingsError('OVERLAY_CONFIG', error.message)
      }),
  }
}

async function startWireGuard(
  parts: Core,
  discovery: RunningDiscovery,
  { wireguardPort, hasGateways }: { wireguardPort: number; hasGateways: boolean },
): Promise<Overlay> {
  const [{ createWireGuard }, { registerLinkMetrics }] = await Promise.all([
    import('./wireguard/start-wireguard.ts'),
    import('./metrics.ts'),
  ])
  const { settings, state, log } = parts
  const bootstrapHosts = new Set(settings.discovery.bootstraps.map((origin) => new URL(origin).hostname))
  const { network, publicKey, port, start } = await createWireGuard({
    directory: settings.identityPath,
    listenPort: wireguardPort,
    relays: discovery.peers,
    allowsLoopback: settings.discovery.allowsLoopback,
    isOfSystem: (hostname) => isLocalhost(hostname) || bootstrapHosts.has(hostname),
    // Bytes that a connection has not sent yet are lost.
    onDown: () => served.cutAll(),
    log,
  })
  const served = await createServer(parts, discovery, network, hasGateways)
  // A ban, or the end of one, takes effect at once.
  state.policy.onChange(() => network.follow())
  const own: OwnOverlay = { wireguardPublicKey: publicKey, wireguardPort }
  return {
    ...served,
    get own() {
      return network.isUp ? own : undefined
    },
    metrics: (metrics) => {
      served.metrics(metrics)
      registerLinkMetrics(metrics, () => network.readings)
    },
    listen: () => start(() => served.listen(port)),
  }
}

/** The members that both kinds of overlay have. */
interface Served extends Pick<Overlay, 'network' | 'table' | 'gateways' | 'metrics' | 'close'> {
  /** @throws Error of the system */
  listen(port: number): Promise<void>
  /** Cuts the connections of all peers. */
  cutAll(): void
}

async function createServer(
  parts: Core,
  discovery: RunningDiscovery,
  made: OverlayNetwork,
  hasGateways: boolean,
): Promise<Served> {
  const [
    { OverlayServer },
    { registerGatewayMetrics, registerOverlayMetrics },
    { limitOutbound },
    { askRelaysOver, overlayDiscovery },
  ] = await Promise.all([
    import('./overlay-server.ts'),
    import('./metrics.ts'),
    import('./outbound-limit.ts'),
    import('./overlay-discovery.ts'),
  ])
  const { state, capacity, log } = parts
  const network = limitOutbound(made, capacity.overlayConnections)
  const handlers = new Map<string, OverlayHandler>(overlayDiscovery(discovery.listFor))
  const table: Table = { handlers, upgrades: new Map() }
  discovery.useOverlay(askRelaysOver(network))
  const gateways = hasGateways ? await createGateways(parts, discovery, network, table) : undefined
  const server = new OverlayServer(network, table, capacity.overlayConnections, log)
  const { policy } = state
  policy.onChange(() => server.cut(({ identity, origin }) => policy.isRelayBanned(identity, origin)))
  return {
    network,
    table,
    gateways,
    metrics: (metrics) => {
      registerOverlayMetrics(metrics, () => ({
        peers: [...network.peers()].length,
        connections: server.connections,
        refused: server.refused,
      }))
      if (gateways) registerGatewayMetrics(metrics, () => gateways.readings())
    },
    cutAll: () => server.cut(() => true),
    listen: async (port) => {
      await server.listen(port)
      gateways?.start()
    },
    close: async () => {
      gateways?.close()
      // A network that is still being made calls `listen` when it is ready, so the server closes first. Peers learn
      // that connections end only while the network is up.
      const closed = server.close()
      await network.close()
      await closed
    },
  }
}
