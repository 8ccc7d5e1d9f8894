// One tunnel: a target of this machine at one or several relays, from its command to its end.

import type { ShareStore } from '@svc/sdk-core/access'
import { exposeShared } from '../../expose/expose.ts'
import type { ExposeOptions } from '../../expose/options.ts'
import type { SiteCommand } from '../options/parsed-command.ts'
import { type AccessLog, openAccessLog } from '../report/access-log.ts'
import type { ExitCode } from '../report/exit-codes.ts'
import { explainError } from '../report/explain-error.ts'
import { addressFor, portFor } from '../report/logged-address.ts'
import { knockReport, webhookReport } from '../report/status-store.ts'
import { exposeOptions, hasHttp, hasWeb } from './expose-options.ts'
import type { ProcessInspector } from './process-inspector.ts'
import { shownTargets } from './shown-targets.ts'
import { type CommandContext, SiteFollower } from './site-follower.ts'
import { TargetWatch } from './target-watch.ts'

/**
 * - `starting`: no relay has accepted it yet.
 * - `running`: at least one relay has accepted it.
 * - `ending`: `close()` was called or its signal aborted, and it unregisters its leases.
 * - `ended`: it has ended at all relays, or none accepted it.
 */
export type TunnelState = 'starting' | 'running' | 'ending' | 'ended'

export interface TunnelEnd {
  /** The exit code of a command that ran this tunnel alone. */
  exitCode: ExitCode
  /** The error because of which no relay accepted the tunnel; undefined for a tunnel that was running. */
  error?: unknown
}

export interface TunnelContext extends Omit<CommandContext, 'signal'> {
  /** Records requests. */
  inspector: ProcessInspector
  /** True when the process runs several tunnels: one that does not start reports its error at once, because the others continue. */
  areSeveral: boolean
}

export class Tunnel {
  readonly command: SiteCommand
  /** Resolves when the tunnel has ended and all its reports were sent; never rejects. */
  readonly ended: Promise<TunnelEnd>
  readonly #onChange: (tunnel: Tunnel) => void
  readonly #controller = new AbortController()
  readonly #follower: SiteFollower
  readonly #watch: TargetWatch
  #log: AccessLog | undefined
  #state: TunnelState = 'starting'

  /**
   * @param position the position in the view
   * @param onChange called after each change of the state
   */
  constructor(
    command: SiteCommand,
    position: number,
    context: TunnelContext,
    onChange: (tunnel: Tunnel) => void,
  ) {
    this.command = command
    this.#onChange = onChange
    const { signal } = this.#controller
    const named = new Set(command.options.relay.flatMap((relay) => URL.parse(relay)?.origin ?? []))
    this.#watch = new TargetWatch(command, (target, reason) => this.#follower.targetChanged(target, reason))
    this.#follower = new SiteFollower(
      { ...context, signal },
      {
        tunnel: this.name,
        position,
        hasWeb: hasWeb(command),
        targets: shownTargets(command),
        named,
        onShown: () => this.#watch.start(),
      },
    )
    this.ended = this.#run(context).finally(() => {
      context.store.recentErrors.ended(this.name)
      this.#become('ended')
    })
  }

  /** The tunnel's name; undefined when it is derived from the identity. */
  get name(): string | undefined {
    return this.command.options.name
  }

  get state(): TunnelState {
    return this.#state
  }

  /** Ends the tunnel. Resolves when its leases are unregistered. */
  close(): Promise<TunnelEnd> {
    if (this.#state === 'starting' || this.#state === 'running') this.#become('ending')
    this.#controller.abort()
    return this.ended
  }

  /** Removes the tunnel and its failures from the store. */
  forget(): void {
    this.#follower.forget()
  }

  async #run(context: TunnelContext): Promise<TunnelEnd> {
    try {
      await this.#start(context)
      return { exitCode: await this.#follower.over }
    } catch (error) {
      return { exitCode: explainError(error).exitCode, error }
    } finally {
      this.#watch.close()
      await this.#log?.flush()
      await this.#follower.settled()
    }
  }

  /** @throws SvcError the reason why no relay accepted it */
  async #start(context: TunnelContext): Promise<void> {
    const { relay: relays } = this.command.options
    const { signal } = this.#controller
    const follower = this.#follower
    try {
      const options = await this.#options(context)
      const exposure = await exposeShared(options, options.access && (await this.#shareFile()))
      if (this.#state === 'starting') this.#become('running')
      exposure.ended.then(() => follower.ended())
      for (const { relay, error } of exposure.failures) {
        follower.failed(relay, error)
        follower.complain(relay, error)
      }
    } catch (error) {
      if (!signal.aborted) {
        const relay = relays[0]
        follower.failed(relay ?? '', error)
        if (context.areSeveral) follower.complain(relay, error)
      }
      throw error
    }
  }

  /** Resolves with the options of `expose`, which report what happens. @throws SvcError */
  async #options({ store, tell, inspector, areSeveral }: TunnelContext): Promise<ExposeOptions> {
    const { banMitm, name: tunnel, logAddresses, inspect, proto } = this.command.options
    const follower = this.#follower
    this.#log = await openAccessLog(this.command, areSeveral, (message) =>
      follower.warn('log_incomplete', message),
    )
    return {
      ...(await exposeOptions(this.command)),
      signal: this.#controller.signal,
      inspector:
        inspect || proto !== undefined || hasHttp(this.command)
          ? await inspector.of(inspect, proto)
          : undefined,
      onSite: (site, relay) => follower.follow(site, relay),
      onTargetError: (error) => this.#watch.covers(error) || follower.complain(undefined, error),
      onRequest: ({ remote, webhook, httpVersion, bytes, ...answered }) => {
        const address = addressFor(logAddresses, remote)
        const checked = webhook && { webhook: webhookReport(webhook) }
        const request = { tunnel, ...answered, address, ...checked }
        store.requested(request)
        this.#log?.write(request, { httpVersion, bytes })
      },
      onHold: (report) => store.held({ tunnel, ...report }),
      onUdpFlow: ({ remote, localPort: local_port }) =>
        store.flowOpened({
          tunnel,
          address: addressFor(logAddresses, remote),
          port: portFor(logAddresses, remote),
          local_port,
        }),
      onKnock: (visitor) => {
        store.knocked(tunnel, visitor)
        const { address = '' } = visitor
        tell(knockReport(tunnel, visitor, addressFor(logAddresses, address ? { address } : undefined)))
      },
      banMitm,
      onProbe: (report) => follower.probed(report, banMitm),
    }
  }

  /** Loads the code only when needed. */
  async #shareFile(): Promise<ShareStore> {
    const { ShareFile } = await import('../../identity/share-file.ts')
    return new ShareFile(this.command.options.identityPath, this.name)
  }

  #become(state: TunnelState): void {
    this.#state = state
    this.#onChange(this)
  }
}
