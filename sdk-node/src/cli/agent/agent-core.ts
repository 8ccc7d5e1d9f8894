// The agent without its API: svc.toml, its tunnels, and changes to both.

import { basename } from 'node:path'
import { isRecord, parseRelay } from '@svc/sdk-core'
import type { Inspection } from '@svc/sdk-core/inspector'
import type {
  AddTunnelRequest,
  AgentConfig,
  AgentShare,
  AgentStatus,
  AnswerKnockRequest,
  ChangeTunnelRequest,
  MadeShare,
  MakeShareRequest,
  RecordTunnelRequest,
  RelayRequestBody,
  TunnelError,
  TunnelRequestBody,
  TunnelSettings,
  TunnelStatus,
  WithdrawShareRequest,
} from '../../agent/api-messages.ts'
import { AgentError } from '../../agent/errors.ts'
import { lastLines } from '../../agent/log-file.ts'
import type { AgentOperations } from '../../agent/operations.ts'
import { RELEASE_VERSION } from '../../version.ts'
import { hasHttp } from '../commands/expose-options.ts'
import type { ProcessInspector } from '../commands/process-inspector.ts'
import { makeShare, sharedSites, sharesOf, withdrawShare } from '../commands/shared-tunnels.ts'
import type { TunnelSupervisor } from '../commands/tunnel-supervisor.ts'
import { addTunnel, removeTunnel, setFields } from '../config/edit-toml.ts'
import type { Config } from '../config/read-config.ts'
import type { TomlTable } from '../config/toml.ts'
import { canBeShared } from '../options/access-options.ts'
import type { SiteCommand } from '../options/parsed-command.ts'
import { explainError } from '../report/explain-error.ts'
import type { Reporter } from '../report/report.ts'
import type { StatusStore } from '../report/status-store.ts'
import { storableFields, withoutSecrets, withWholeAccess } from './access-changes.ts'
import type { ConfigFile } from './config-file.ts'
import { ConfiguredTunnel } from './configured-tunnel.ts'

export interface AgentParts {
  file: ConfigFile
  supervisor: TunnelSupervisor
  store: StatusStore
  tell: Reporter
  /** What records the requests of tunnels. */
  inspector: Pick<ProcessInspector, 'inspection' | 'record' | 'isRecorded'>
  logPath: string
  isDetached: boolean
  /** The relay of tunnels for which svc.toml names none. */
  defaultRelay: string | string[] | undefined
  /** Called when a client shuts the agent down. */
  onShutdown(): void
  /** Called when the allowed wallets have changed. */
  onWallets(isAllowed: (address: string) => boolean): void
}

export class AgentCore implements AgentOperations {
  readonly #parts: AgentParts
  readonly #startedAt = new Date().toISOString()
  /** By name; removed ones stay until they have ended. */
  readonly #tunnels = new Map<string | undefined, ConfiguredTunnel>()
  #config: Config
  #configError: string | undefined
  /** The last change: they run one after another. */
  #last: Promise<unknown> = Promise.resolve()

  /** @param config as it was loaded from `parts.file` */
  constructor(config: Config, parts: AgentParts) {
    this.#parts = parts
    this.#config = config
  }

  /** Starts the tunnels. */
  start(): void {
    this.#apply(this.#config)
  }

  /** Ends all tunnels. */
  async close(): Promise<void> {
    await this.#last.catch(() => {})
    const tunnels = [...this.#tunnels.values()]
    for (const tunnel of tunnels) tunnel.set(undefined)
    await Promise.all(tunnels.map(({ over }) => over))
  }

  status(url: string): AgentStatus {
    const { store, file, isDetached: detached } = this.#parts
    const sites = Map.groupBy(store.snapshot(), ({ tunnel }) => tunnel)
    const shared = new Set(sharedSites(store).map(({ tunnel }) => tunnel))
    const order = new Map(this.#config.tunnels.map(({ command }, at) => [command.options.name, at]))
    const placeOf = (name: string | undefined): number => order.get(name) ?? order.size
    return {
      pid: process.pid,
      started_at: this.#startedAt,
      release_version: RELEASE_VERSION,
      url,
      detached,
      config: { path: file.path, error: this.#configError },
      tunnels: [...this.#tunnels.values()]
        .sort((one, other) => placeOf(one.name) - placeOf(other.name))
        .map((tunnel): TunnelStatus => {
          const relays = (sites.get(tunnel.name) ?? []).map(
            ({ tunnel: _name, targets: _, ...relay }) => relay,
          )
          const can_be_shared = shared.has(tunnel.name) && canBeShared(tunnel.command?.options ?? {})
          const recorded = this.#isRecorded(tunnel)
          const target = describe(tunnel.command)
          return { name: tunnel.name, ...tunnel.state, ...target, can_be_shared, recorded, relays }
        }),
      requests: [...store.requests],
      flows: store.flows,
      knocks: store.knockReports().map(({ event: _event, ...knock }) => knock),
      errors: store.recentErrors.standing.map(
        ({ tunnel, relay, code, message }): TunnelError => ({
          tunnel,
          relay,
          code,
          message,
        }),
      ),
    }
  }

  async config(): Promise<AgentConfig> {
    const { file } = this.#parts
    const { tunnel: tunnels, agent: _agent, ...shared } = await file.fields()
    return {
      path: file.path,
      shared: withoutSecrets(shared) as TunnelSettings,
      tunnels: (Array.isArray(tunnels) ? tunnels : []).map(withoutSecrets) as TunnelSettings[],
    }
  }

  async addTunnel({ settings }: AddTunnelRequest): Promise<void> {
    const fields = await storableFields(settings)
    await this.#change((text) => addTunnel(text, fields))
  }

  async changeTunnel({ name, settings }: ChangeTunnelRequest): Promise<void> {
    if (settings.name !== undefined && settings.name !== name)
      throw new AgentError('invalid_request', 'a tunnel keeps its name: add another one, and remove this one')
    const changes = await storableFields(settings)
    await this.#change((text, fields) => {
      const index = indexOf(fields, name)
      return setFields(text, index, withWholeAccess(tunnelsOf(fields)[index], changes))
    })
  }

  removeTunnel({ name }: TunnelRequestBody): Promise<void> {
    return this.#change((text, fields) => removeTunnel(text, indexOf(fields, name)))
  }

  pauseTunnel({ name }: TunnelRequestBody): Promise<void> {
    return this.#change((text, fields) => setFields(text, indexOf(fields, name), { paused: true }))
  }

  async resumeTunnel({ name }: TunnelRequestBody): Promise<void> {
    await this.#change((text, fields) => {
      const index = indexOf(fields, name)
      const isPaused = tunnelsOf(fields)[index]?.paused === true
      // Removing the field would also remove the comment above it.
      return isPaused ? setFields(text, index, { paused: false }) : text
    })
    this.#tunnels.get(name)?.retry()
  }

  connectRelay({ relay, name }: RelayRequestBody): Promise<void> {
    const origin = originOf(relay)
    return this.#changeRelays(name, (relays) =>
      relays.some((each) => isAt(each, origin)) ? relays : [...relays, origin],
    )
  }

  disconnectRelay({ relay, name }: RelayRequestBody): Promise<void> {
    const origin = originOf(relay)
    return this.#changeRelays(name, (relays) => {
      const left = relays.filter((each) => !isAt(each, origin))
      if (left.length === relays.length)
        throw new AgentError('invalid_request', `${origin} is not among the relays`)
      if (left.length > 0) return left
      throw new AgentError('invalid_request', 'a tunnel needs a relay: pause or remove it instead')
    })
  }

  async recordTunnel({ name, record }: RecordTunnelRequest): Promise<void> {
    const tunnel = this.#tunnelOf(name)
    if (this.#isRecorded(tunnel) === undefined)
      throw new AgentError(
        'invalid_request',
        `${name ?? 'the tunnel'} has not started, or is none of an HTTP server or a folder`,
      )
    await this.#parts.inspector.record(name, record)
  }

  async answerKnock(answer: AnswerKnockRequest): Promise<void> {
    if (!this.#parts.store.answerKnock(answer))
      throw new AgentError('knock_not_found', `no one visitor with the number ${answer.code} waits`)
  }

  shares(): AgentShare[] {
    return sharesOf(this.#parts.store)
  }

  async makeShare({ name, ...options }: MakeShareRequest): Promise<MadeShare> {
    const tunnel = this.#tunnelOf(name)
    if (!canBeShared(tunnel.command?.options ?? {}))
      throw new AgentError(
        'invalid_request',
        `${name ?? 'the tunnel'} lets everybody in: a share link needs password, users, bearer, oidc or knock in [tunnel.access]`,
      )
    return await makeShare(this.#parts.store, ({ tunnel }) => tunnel === name, options).catch(refuseShare)
  }

  async withdrawShare({ id }: WithdrawShareRequest): Promise<void> {
    const isWithdrawn = await withdrawShare(this.#parts.store, id).catch(refuseShare)
    if (!isWithdrawn) throw new AgentError('share_not_found', `there is no share link ${id}`)
  }

  reload(): Promise<void> {
    return this.#exclusively(async () => {
      try {
        this.#apply(await this.#parts.file.load())
      } catch (error) {
        const { message } = explainError(error)
        this.#configError = message
        throw new AgentError('config_unusable', message, error)
      }
    })
  }

  shutdown(): void {
    this.#parts.onShutdown()
  }

  logs(lines: number): Promise<string[]> {
    return lastLines(this.#parts.logPath, lines)
  }

  inspection(): Inspection {
    const { inspection } = this.#parts.inspector
    if (inspection) return inspection
    throw new AgentError('inspector_off', 'no tunnel is recorded: inspect = true in svc.toml does so')
  }

  /** @throws AgentError `tunnel_not_found` */
  #tunnelOf(name: string | undefined): ConfiguredTunnel {
    const tunnel = this.#tunnels.get(name)
    if (tunnel) return tunnel
    throw new AgentError('tunnel_not_found', `the agent has no tunnel ${name ?? 'without a name'}`)
  }

  /** @returns undefined where there is nothing to record */
  #isRecorded({ name, command }: ConfiguredTunnel): boolean | undefined {
    return command && hasHttp(command) ? this.#parts.inspector.isRecorded(name) : undefined
  }

  isAllowed(address: string): boolean {
    const { allowedWallets } = this.#config.agent
    return allowedWallets.length === 0 || allowedWallets.includes(address.toLowerCase())
  }

  failed(error: unknown): void {
    const { code, message } = explainError(error)
    this.#parts.tell({ event: 'error', code, message })
  }

  #changeRelays(name: string | undefined, change: (relays: string[]) => string[]): Promise<void> {
    return this.#change((text, fields) => {
      const index = name === undefined && !hasNameless(fields) ? undefined : indexOf(fields, name)
      const own = index === undefined ? undefined : tunnelsOf(fields)[index]?.relay
      const { defaultRelay } = this.#parts
      const before = listOf(own ?? fields.relay ?? defaultRelay)
      const after = change(before)
      return setFields(text, index, { relay: after.length === 1 ? after[0] : after })
    })
  }

  #change(edit: (text: string, fields: TomlTable) => string): Promise<void> {
    return this.#exclusively(async () => this.#apply(await this.#parts.file.change(edit)))
  }

  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }

  /** Starts, changes and ends the tunnels that differ; the others keep their sessions. */
  #apply(config: Config): void {
    this.#config = config
    this.#configError = undefined
    this.#parts.onWallets((address) => this.isAllowed(address))
    const named = new Map(config.tunnels.map((tunnel) => [tunnel.command.options.name, tunnel]))
    for (const [name, tunnel] of this.#tunnels) tunnel.set(named.get(name))
    for (const [name, wanted] of named) if (!this.#tunnels.has(name)) this.#add(name, wanted)
  }

  #add(name: string | undefined, wanted: Config['tunnels'][number]): void {
    const onOver = (): void => void this.#tunnels.delete(name)
    const tunnel = new ConfiguredTunnel(wanted, this.#parts.supervisor, onOver)
    this.#tunnels.set(name, tunnel)
    tunnel.over.catch((error) => this.failed(error))
  }
}

/** @throws AgentError with the reason of the site, or the error of its file */
function refuseShare(cause: unknown): never {
  const { code, message } = explainError(cause)
  throw new AgentError(code === 'invalid_option' ? 'invalid_request' : 'internal', message, cause)
}

/** Describes a tunnel's target without the path of a folder, which readers must not see. */
function describe(command: SiteCommand | undefined): Pick<TunnelStatus, 'target' | 'named_relays'> {
  if (command === undefined) return { target: '', named_relays: [] }
  const { relay: named_relays, route } = command.options
  const places = route.map((text) => text.slice(0, text.indexOf('=')))
  if (command.command === 'serve')
    return { target: [`folder ${basename(command.folder)}`, ...places].join(', '), named_relays }
  const { tls, tcp, udp } = command.options
  const streams = Object.entries({ tls, tcp, udp }).flatMap(([kind, to]) => (to ? [`${kind} ${to}`] : []))
  const web = command.target === undefined ? [] : [`http ${command.target}`]
  return { target: [...web, ...streams, ...places].join(', '), named_relays }
}

function tunnelsOf({ tunnel }: TomlTable): TomlTable[] {
  return Array.isArray(tunnel) ? tunnel.filter(isRecord) : []
}

function hasNameless(fields: TomlTable): boolean {
  return tunnelsOf(fields).some(({ name }) => name === undefined)
}

function indexOf(fields: TomlTable, name: string | undefined): number {
  const index = tunnelsOf(fields).findIndex((tunnel) => tunnel.name === name)
  if (index >= 0) return index
  throw new AgentError(
    'tunnel_not_found',
    name === undefined ? 'svc.toml has no tunnel without a name' : `svc.toml has no tunnel ${name}`,
  )
}

function listOf(relay: unknown): string[] {
  return [relay ?? []].flat().filter((each) => typeof each === 'string')
}

function originOf(relay: string): string {
  try {
    return parseRelay(relay).origin
  } catch (cause) {
    throw new AgentError('invalid_request', explainError(cause).message, cause)
  }
}

function isAt(relay: string, origin: string): boolean {
  return URL.parse(relay)?.origin === origin
}
