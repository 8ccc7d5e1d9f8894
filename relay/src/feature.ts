// What a feature is: a part of the relay that an operator may leave off. Each is one folder of `features`.

import type { DomainResponse, Extension } from '@svc/protocol'
import type { ApiParts } from './core/api/endpoint-handler.ts'
import type { Endpoint } from './core/api/endpoints/endpoint.ts'
import type { EndpointName } from './core/api/endpoints/endpoints.ts'
import type { GatewayChoice } from './core/api/handlers/sdk.ts'
import type { Handler, NeighbourEndpoint, Routing } from './core/api/http/server.ts'
import type { Check } from './core/check/finding.ts'
import type { Settings } from './core/config/settings.ts'
import type { Core } from './core/core.ts'
import type { Metrics } from './core/metrics/metrics.ts'
import type { ConnectEndpoint, ReverseGateway } from './core/reverse/connect-endpoint.ts'
import type { StartedParts } from './core/started-parts.ts'

interface Gateways {
  choice: GatewayChoice
  /** Undefined where this relay is not a gateway of others. */
  gateway: ReverseGateway | undefined
  /** Takes sessions that gateways carry here. */
  serve(connect: ConnectEndpoint): void
}

/** By which others find a feature, while it runs, in {@link RunningFeatures}. A part that starts before the core has only this. */
export interface FeatureKey<R extends Running> {
  /** Never set: it carries the type. */
  readonly runs?: R
}

/** A Feature is one part of the relay that can be off. Its folder's `index.ts` exports it, and loads its code when it starts. */
export interface Feature<R extends Running = Running> extends FeatureKey<R> {
  /** Features that start before it. It runs without those that are off. */
  readonly needs?: readonly Feature[]
  /** What `svc-relay check` says of it, by the names of its lines. */
  readonly checks: Readonly<Record<string, Check>>
  isOn(settings: Settings): boolean
  /** @throws SettingsError when it cannot start; nothing of it is left then */
  start(core: Core, running: RunningFeatures): Promise<R>
}

/** Running is what a feature adds to the relay while it runs: each member is a place where features join the core. */
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
  /** Joins connections to neighbours. */
  neighbours?(api: ApiParts): NeighbourEndpoint
  /** Gateways through which SDKs reach this relay, and this relay's own as a gateway of others. */
  readonly gateways?: Gateways | undefined
  /** Whether requests of a client address are another relay's, which has limits of its own. */
  isPeer?(clientIp: string): boolean
  metrics?(metrics: Metrics): void
  /** Called when the relay listens. */
  listen?(): Promise<void>
  /** Resolves when nothing of the feature is left. */
  close?(): Promise<void> | void
}

/** The features that run, in the order in which they started. */
export class RunningFeatures {
  readonly #running = new Map<FeatureKey<Running>, Running>()

  /** Takes a part that started before the core. */
  add<R extends Running>(key: FeatureKey<R>, running: R): void {
    this.#running.set(key, running)
  }

  /** Starts those that are on, each after the features that it needs. @param started gets each as soon as it runs */
  async start(features: readonly Feature[], core: Core, started: StartedParts): Promise<void> {
    for (const feature of features) {
      if (this.#running.has(feature) || !feature.isOn(core.settings)) continue
      await this.start(feature.needs ?? [], core, started)
      const running = await feature.start(core, this)
      started.add({ close: () => running.close?.() })
      this.#running.set(feature, running)
    }
  }

  /** @returns undefined where the feature is off */
  get<R extends Running>(feature: FeatureKey<R>): R | undefined {
    return this.#running.get(feature) as R | undefined
  }

  [Symbol.iterator](): Iterator<Running> {
    return this.#running.values()
  }
}
