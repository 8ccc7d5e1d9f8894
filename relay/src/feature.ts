// What a feature is: a part of the relay that an operator may turn off. Each is one folder of `features`.

import type { Duplex } from 'node:stream'
import type { DomainResponse, Extension } from '@svc/protocol'
import type { ApiParts } from './core/api/endpoint-handler.ts'
import type { Endpoint } from './core/api/endpoints/endpoint.ts'
import type { EndpointName } from './core/api/endpoints/endpoints.ts'
import type { CustomDomainStates, GatewayChoice } from './core/api/handlers/sdk.ts'
import type { Handler, NeighbourEndpoint, Routing } from './core/api/http/server.ts'
import type { Check } from './core/check/finding.ts'
import type { FeatureSettings } from './core/config/feature-settings.ts'
import type { Settings } from './core/config/settings.ts'
import type { Core } from './core/core.ts'
import type { SitesElsewhere } from './core/go/go.ts'
import type { OpenSockets } from './core/ingress/open-sockets.ts'
import type { ProveName } from './core/ingress/sni-listener.ts'
import type { PortClaims } from './core/lease/lease-draft.ts'
import type { Logger } from './core/log/log.ts'
import type { Metrics } from './core/metrics/metrics.ts'
import type { ReloadedFiles } from './core/reload.ts'
import type { ConnectEndpoint, ReverseGateway } from './core/reverse/connect-endpoint.ts'
import type { StartedParts } from './core/started-parts.ts'
import type { RelayState, StateOptions } from './core/storage/stored-state.ts'

interface Gateways {
  choice: GatewayChoice
  /** Undefined if this relay is not a gateway for others. */
  gateway: ReverseGateway | undefined
  /** Accepts sessions that gateways carry here. */
  serve(connect: ConnectEndpoint): void
}

/** The relay, as features see it when it listens. */
interface ListeningRelay {
  connect: ConnectEndpoint
  /** Serves a connection to the root host whose TLS a worker has ended. */
  serveDecrypted(connection: Duplex): void
  /** Of the listener of public connections. */
  port: number
  /** Proves a name to an ACME authority; undefined if the relay gets no certificates by ACME. */
  proveName: ProveName | undefined
  /** Holds the sockets of public connections. */
  sockets: OpenSockets
}

/** Prepared is what a feature has made before the relay opens its state, and what it adds to it. */
export interface Prepared extends StateOptions {
  /** Calls `open` when the state may be opened. */
  openState?<State>(open: () => Promise<State>): Promise<State>
  /** The first bytes of the bindings of this machine, one of several. */
  machineMark?: Uint8Array
  close(): Promise<void> | void
}

/** A Feature is one part of the relay that can be off. Its folder's `index.ts` exports it, and loads its code when it starts. */
export interface Feature<R extends Running = Running, P extends Prepared = Prepared> {
  /** Features that start before it. It runs without those that are off. */
  readonly needs?: readonly Feature[]
  readonly settings?: FeatureSettings
  /** What `svc-relay check` says about it, by the names of its lines. */
  readonly checks?: Readonly<Record<string, Check>>
  isOn(settings: Settings, state: Pick<RelayState, 'isManaged' | 'certificates'>): boolean
  /** Begins a feature that the state depends on. @returns undefined when it is off */
  prepare?(settings: Settings, log: Logger): Promise<P | undefined>
  /**
   * @param prepared what {@link prepare} returned, which is closed after everything that starts
   * @throws SettingsError when it cannot start; nothing of it is left then
   */
  start(core: Core, running: RunningFeatures, prepared: P): Promise<R>
}

/** Running is what a feature adds to the relay while it runs: each member is an extension point of the core. */
export interface Running {
  /** Extensions that `GET /sdk/domain` names. */
  readonly extensions?: readonly Extension[]
  /** Its members of `GET /sdk/domain`, asked for each request. */
  domain?(): Partial<DomainResponse> | Promise<Partial<DomainResponse>>
  /** Handlers of endpoints of the API's table, in place of those that say that the relay does not have the feature. */
  handlers?(api: ApiParts): Partial<Record<EndpointName, Handler>>
  /** Routes that only a relay with this feature has. */
  routes?(api: ApiParts): Routing
  /** Descriptions of {@link routes}, for the OpenAPI document. */
  readonly endpoints?: Readonly<Record<string, Endpoint<unknown, unknown>>>
  /** Serves pages of the root host, and leaves other paths to `next`. */
  pages?(next: Handler, api: ApiParts): Handler
  /** Finds sites at other relays, for visitors of `/go/`. */
  readonly sitesElsewhere?: SitesElsewhere
  /** Joins connections to neighbours. */
  neighbours?(api: ApiParts): NeighbourEndpoint
  /** Gateways through which SDKs reach this relay, and this relay's own as a gateway of others. */
  readonly gateways?: Gateways | undefined
  /** Leads sites' own domains to them. */
  readonly customDomains?: CustomDomainStates
  /** Gives leases dedicated ports. */
  readonly ports?: PortClaims
  /** HOST:PORT at which datagram tunnels come in. @default the authority of the root host */
  readonly tunnelAddress?: string | undefined
  /** Proves names to an ACME authority. */
  readonly proveName?: ProveName
  /** Whether requests from a client address are those of another relay, which has limits of its own. */
  isPeer?(clientIp: string): boolean
  /** What the health check says is wrong, each as a sentence. */
  problems?(): readonly string[]
  /** Its files that are read again when they change, and on SIGHUP. */
  readonly reloaded?: ReloadedFiles
  metrics?(metrics: Metrics): void
  /** Called when all features have started. */
  beforeListen?(): Promise<void>
  /** Called when the relay listens. */
  listen?(relay: ListeningRelay): Promise<void> | void
  /** Resolves when nothing of the feature is left. */
  close?(): Promise<void> | void
}

/** The features that run, in the order in which they started. */
export class RunningFeatures {
  readonly #prepared = new Map<Feature, Prepared>()
  readonly #running = new Map<Feature, Running>()

  /** Prepares those that are on. @param started gets each as soon as it is there */
  async prepare(
    features: readonly Feature[],
    settings: Settings,
    { started, log }: { started: StartedParts; log: Logger },
  ): Promise<Prepared[]> {
    for (const feature of features) {
      const prepared = started.add(await feature.prepare?.(settings, log))
      if (prepared !== undefined) this.#prepared.set(feature, prepared)
    }
    return [...this.#prepared.values()]
  }

  /** Starts those that are on, each after the features that it needs. @param started gets each as soon as it runs */
  async start(features: readonly Feature[], core: Core, started: StartedParts): Promise<void> {
    for (const feature of features) {
      if (this.#running.has(feature) || !feature.isOn(core.settings, core.state)) continue
      await this.start(feature.needs ?? [], core, started)
      const running = await feature.start(core, this, this.#prepared.get(feature)!)
      started.add({ close: () => running.close?.() })
      this.#running.set(feature, running)
    }
  }

  /** @returns undefined if the feature is off */
  get<R extends Running>(feature: Feature<R>): R | undefined {
    return this.#running.get(feature) as R | undefined
  }

  [Symbol.iterator](): Iterator<Running> {
    return this.#running.values()
  }
}
