// Starts what makes this machine one of several: first the state that they share, then, when the relay's parts are there, the rest.

import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { resetSocket } from '@svc/node-kit/sockets'
import { canonicalLabel, type Identity } from '@svc/protocol'
import { LoopbackPairs } from '../../core/bridge/loopback-pairs.ts'
import type { Pipe } from '../../core/bridge/pipe.ts'
import type { VisitorServer } from '../../core/bridge/visitor-server.ts'
import type { Visitors } from '../../core/bridge/visitors.ts'
import type { ClientAddresses } from '../../core/client-address/client-addresses.ts'
import { authorityOf, type ClusterSettings } from '../../core/config/cluster-settings.ts'
import type { Settings } from '../../core/config/settings.ts'
import { SettingsError } from '../../core/config/settings-error.ts'
import { OpenSockets } from '../../core/ingress/open-sockets.ts'
import type { SpendBinding } from '../../core/keyless/keyless-signer.ts'
import type { Lease } from '../../core/lease/lease.ts'
import type { LeaseRegistry } from '../../core/lease/lease-registry.ts'
import type { Reservations } from '../../core/lease/reservations.ts'
import type { Route } from '../../core/lease/route.ts'
import type { Logger } from '../../core/log/log.ts'
import type { ClusterReadings } from '../../core/metrics/cluster-readings.ts'
import type { Measured, Metrics } from '../../core/metrics/metrics.ts'
import type { RelayCounters } from '../../core/metrics/relay-counters.ts'
import type { SharedReadBuffer } from '../../core/node-internals/shared-read-buffer.ts'
import type { Machines } from '../../core/peers.ts'
import type { Policy } from '../../core/policy/policy.ts'
import { Bandwidth } from '../../core/rate-limit/bandwidth.ts'
import type { RequestMemory } from '../../core/rate-limit/request-memory.ts'
import type { PendingVisitor } from '../../core/reverse/pending-visitor.ts'
import { countReadySessions } from '../../core/reverse/ready-queues.ts'
import type { RoutingTable } from '../../core/routing/routing-table.ts'
import { RELEASE_VERSION } from '../../core/version.ts'
import type { CacheUse } from '../static-cache/snapshot-sharing.ts'
import { ChangeFeed, type SharedState } from './engine/change-feed.ts'
import { type Change, Engine, EngineError, type EngineState } from './engine/engine.ts'
import { EngineClock } from './engine/engine-clock.ts'
import { withEngineLock } from './engine/engine-lock.ts'
import { EngineKeys } from './engine/keys.ts'
import { ClusterLeases } from './leases/cluster-leases.ts'
import { ENGINE_START_MS, LEAVE_MS } from './limits.ts'
import { createLinkCertificate } from './links/link-certificate.ts'
import type { LinkedVisitor } from './links/linked-visitor.ts'
import { MachineLinks, markOf } from './links/machine-links.ts'
import { KnownMachines, type MachineStatus } from './machines.ts'
import { registerClusterMetrics } from './metrics.ts'
import { clusterReadings } from './readings.ts'
import { deriveClusterKey } from './shared/cluster-key.ts'
import { Seal } from './shared/seal.ts'
import { SharedChallenges } from './shared/shared-challenges.ts'
import { SharedFiles } from './shared/shared-files.ts'
import { SharedOrders } from './shared/shared-orders.ts'
import { SharedPolicy } from './shared/shared-policy.ts'
import { SharedPolicyChanges } from './shared/shared-policy-changes.ts'
import { SharedSnapshots } from './snapshots/shared-snapshots.ts'

/** What the engine has. */
interface Loaded {
  leases: Awaited<ReturnType<ClusterLeases['load']>>
  snapshots: Awaited<ReturnType<SharedSnapshots['load']>>
}

/** The parts of the relay that other machines need. */
interface RelayParts {
  leases: LeaseRegistry
  portHost: () => string | undefined
  reservations: Reservations
  policy: Policy
  routes: RoutingTable<Route>
  visitors: Visitors
  visitorServer: VisitorServer
  clientAddresses: ClientAddresses
  counters: RelayCounters
  pipe: Pipe
  readBuffer: SharedReadBuffer | undefined
  /** Visitors of other machines that this one takes at once. */
  visitorsMax: number
  /** Uses a binding of this machine up, whichever of its processes issued it. */
  spend: SpendBinding
  /** Resolves when all processes of this machine know of what was done before. */
  settled: () => Promise<void>
  /** Opens the ports of a lease of this machine that it had before. */
  resumePorts: (lease: Lease) => Promise<void>
}

export class Cluster implements Measured {
  readonly name: string
  readonly #settings: Settings & { cluster: ClusterSettings }
  readonly #run: string = randomUUID()
  readonly #startedAt = Date.now()
  readonly #engine: Engine
  readonly #keys: EngineKeys
  /** Derived from the secret. */
  readonly #key: Buffer
  readonly #seal: Seal
  readonly #clock = new EngineClock()
  readonly #machines: KnownMachines
  readonly #log: Logger
  readonly #closing = new AbortController()
  readonly #pairs = new LoopbackPairs()
  /** The ends of these pairs that stand for visitors of other machines. */
  readonly #sockets = new OpenSockets()
  /** The figures that the admin page reads. */
  readonly readings: ClusterReadings
  readonly files: SharedFiles
  readonly policyChanges: SharedPolicyChanges
  /** What ACME shares. */
  readonly orders: SharedOrders
  /** Leases whose ports this machine has opened again. */
  readonly #resumed = new WeakSet<Lease>()
  readonly #topics = new Map<string, (text: string) => void>()
  #isDraining = false
  #parts: RelayParts | undefined
  #leases: ClusterLeases | undefined
  #policy: SharedPolicy | undefined
  #links: MachineLinks | undefined
  #feed: ChangeFeed | undefined
  #snapshots: SharedSnapshots | undefined

  constructor(settings: Settings & { cluster: ClusterSettings }, log: Logger) {
    this.#settings = settings
    this.#log = log
    const { cluster, host, identityPath } = settings
    this.name = authorityOf(cluster.address)
    this.#engine = new Engine(cluster.engine, log)
    this.#key = deriveClusterKey(cluster.secret, host)
    this.#seal = new Seal(this.#key, log)
    this.#keys = new EngineKeys(host, this.#seal)
    const parts = { engine: this.#engine, keys: this.#keys, seal: this.#seal, run: this.#run, log }
    this.#machines = new KnownMachines({
      ...parts,
      name: this.name,
      clock: this.#clock,
      status: () => this.#status(),
    })
    this.readings = clusterReadings({
      machines: this.#machines,
      status: () => this.#status(),
      engine: this.#engine,
      links: () => this.#links,
      feed: () => this.#feed,
    })
    this.files = new SharedFiles({ ...parts, directory: identityPath })
    this.policyChanges = new SharedPolicyChanges(parts)
    this.orders = new SharedOrders({
      ...parts,
      files: this.files,
      tell: (topic, text) => this.tell(topic, text),
      heard: () => this.heard(),
      onTold: (topic, listener) => this.onTold(topic, listener),
    })
  }

  metrics(metrics: Metrics): void {
    registerClusterMetrics(metrics, this.readings)
  }

  /** The bytes with which bindings of this machine begin, behind that of the process. */
  get bindingMark(): Buffer {
    return markOf(this.name)
  }

  /** Whether this machine hears of what the others change. */
  get isInStep(): boolean {
    return this.#feed?.epoch !== undefined
  }

  /** Whether a lease that this machine does not know is over. */
  isOver(identity: Identity, id: string): boolean {
    return this.isInStep || this.#leases?.isOver(identity, id) === true
  }

  /**
   * Opens the state directory, once it has the files that all machines have.
   * @throws SettingsError when the engine does not answer, or this machine does not fit the others
   */
  async openState<State>(open: () => Promise<State>): Promise<State> {
    await this.#engine.untilUp(ENGINE_START_MS).catch((error: Error) => {
      throw new SettingsError('CLUSTER_URL', error.message)
    })
    return await this.withLock('start', this.#closing.signal, async () => {
      await this.files.load()
      const state = await open()
      await this.files.publish()
      return state
    })
  }

  /** Calls `use` while no other machine holds the lock. @throws what `use` throws, or EngineError */
  async withLock<T>(name: string, signal: AbortSignal, use: () => Promise<T>): Promise<T> {
    const parts = { engine: this.#engine, keys: this.#keys, seal: this.#seal }
    return await withEngineLock(parts, name, signal, use)
  }

  /** Joins the parts of the relay to the other machines. Nothing is asked yet. */
  join(parts: RelayParts): Machines {
    this.#parts = parts
    const [engine, keys, seal, run, log] = [this.#engine, this.#keys, this.#seal, this.#run, this.#log]
    const shared = { engine, keys, seal, run, log }
    const policy = new SharedPolicy({ ...shared, policy: parts.policy, links: () => this.#links })
    this.#policy = policy
    const leases = new ClusterLeases({
      ...shared,
      ...parts,
      machine: this.name,
      clock: this.#clock,
      portHost: parts.portHost,
      hostname: (label) => parts.routes.hostname(label),
      epoch: () => this.#feed?.epoch,
      isTakenElsewhere: async (key) => (await this.#links?.isTakenElsewhere(key)) === true,
      tellDirectly: (...said) => this.#links?.tellLease(...said),
      tellBehind: (...said) => this.#links?.tellLeaseBehind(...said),
      hasBehind: () => this.#links?.hasBehind === true,
      settled: async (change) => await this.#links?.settled(change),
      heard: () => this.heard(),
    })
    this.#leases = leases
    const snapshots = new SharedSnapshots({
      ...shared,
      machine: this.name,
      clock: this.#clock,
      canonicalHostname: (identityKey) => canonicalHostname(identityKey, parts.routes),
      routes: parts.routes,
      links: () => this.#links,
      useElsewhere: () => this.#cacheElsewhere(),
      isInStep: () => this.isInStep,
    })
    this.#snapshots = snapshots
    this.#feed = new ChangeFeed({
      ...shared,
      state: this.#state(leases, policy, snapshots),
      beat: () => this.#machines.beat(),
      onStep: () => this.#links?.stepped(),
    })
    this.#links = new MachineLinks({
      ...shared,
      ...parts,
      machine: this.name,
      certificate: createLinkCertificate(this.#key, this.name),
      clientIpOf: ({ visitor }) => clientIpOf(visitor, parts.clientAddresses),
      reached: async (change) => {
        const isFollowed = (await this.#feed?.reached(change)) === true
        await parts.settled()
        return isFollowed
      },
      isInStep: () => this.isInStep,
      followLease: (...said) => leases.follow(...said),
      followChange: (kind, subject, entry) => {
        if (kind === 'policy') policy.followDirectly(entry)
        else if (kind === 'snapshot') snapshots.follow(subject, entry)
      },
      isTaken: (key) => leases.isTakenHere(key),
      current: function* () {
        const { entry } = policy
        if (entry !== undefined) yield { kind: 'change', of: 'policy', subject: '', entry }
        for (const [name, head] of leases.endedEarly()) yield { kind: 'lease', name, head, json: '' }
      },
      featureOf: (hostname) => snapshots.routeOf(hostname),
      socketOf: async (visitor) => await this.#socketOf(visitor, parts.pipe),
      onReach: () => snapshots.judge(),
      toSocket:
        this.#settings.workers > 1 ? async (visitor) => await this.#socketOf(visitor, parts.pipe) : undefined,
    })
    for (const [topic, listener] of this.#topics) this.#links.onTold(topic, listener)
    const machines = this.#machines
    return {
      get size() {
        return machines.alive
      },
      leases,
      policyChanges: this.policyChanges,
      readings: this.readings,
      spend: this.spend,
      challenges: (memory) => this.challenges(memory),
      leave: (hurry) => this.leave(hurry),
    }
  }

  /** Begins: everything is read when this resolves, and the other machines are dialled. @throws SettingsError */
  async start(): Promise<void> {
    const [parts, links, feed] = [this.#parts, this.#links, this.#feed]
    if (parts === undefined || links === undefined || feed === undefined)
      throw new Error('join() comes first')
    await links.listen(this.#settings.cluster.listenPort, this.#settings.listenAddress)
    await feed.start().catch((error) => {
      throw error instanceof EngineError ? new SettingsError('CLUSTER_URL', error.message) : error
    })
    if (this.#policy !== undefined) parts.policy.shareWith(this.#policy)
    for (const lease of parts.leases) await this.#resume(lease)
    parts.leases.onChange((lease) => void this.#resume(lease))
    this.#machines.onBeat((state) => this.#beat(state, feed, links))
    links.follow(this.#machines.others, (machine) => this.#machines.isAlive(machine))
    this.#machines.start()
    // A site that registers elsewhere may come here next: the others ask this machine whether it knows.
    await links.linked()
  }

  /** The snapshots of all machines, once this one is joined to them. */
  get snapshots(): SharedSnapshots {
    return this.#snapshots!
  }

  challenges(memory: RequestMemory): SharedChallenges {
    const { host, rateLimits } = this.#settings
    const shared = { engine: this.#engine, keys: this.#keys, seal: this.#seal }
    return new SharedChallenges({ ...shared, host, rateLimits, memory })
  }

  /** Uses a binding up, at the machine that issued it. */
  spend: SpendBinding = (binding, lease, clientHello) => {
    const isOwn = binding.subarray(1, 1 + this.bindingMark.length).equals(this.bindingMark)
    const spend = isOwn ? this.#parts?.spend : this.#links?.spend
    return spend?.(binding, lease, clientHello) ?? false
  }

  /** Tells the same part of all other machines. */
  tell(topic: string, text: string): void {
    this.#links?.tell(topic, text)
  }

  /** Resolves when the machines that can be reached have heard what was told, at the latest after a moment. */
  async heard(): Promise<void> {
    await this.#links?.heard()
  }

  /** A part may listen before this machine is joined to the others. */
  onTold(topic: string, listener: (text: string) => void): void {
    this.#topics.set(topic, listener)
    this.#links?.onTold(topic, listener)
  }

  /** Gives files that have changed here to the other machines. Never rejects: what cannot be given now follows later. */
  async share(files: readonly string[]): Promise<void> {
    try {
      await this.files.publish(files)
    } catch (error) {
      this.#log.warn({ files, reason: (error as Error).message }, 'the other machines get these files later')
    }
  }

  async leave(hurry: AbortSignal): Promise<void> {
    this.#isDraining = true
    await this.#machines.beat().catch(() => {})
    await pause(LEAVE_MS, undefined, { signal: hurry }).catch(() => {})
    this.#links?.refuseVisitors()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#machines.leave()
    await this.#feed?.close()
    await this.#links?.close()
    this.#snapshots?.close()
    this.#sockets.destroyAll()
    await this.#pairs.close()
    await this.#engine.close()
  }

  #beat(state: EngineState, feed: ChangeFeed, links: MachineLinks): void {
    feed.check(state)
    links.follow(this.#machines.others, (machine) => this.#machines.isAlive(machine))
    void this.#leases?.sweep().catch(() => {})
    void this.#leases?.flush().catch(() => {})
  }

  #state(leases: ClusterLeases, policy: SharedPolicy, snapshots: SharedSnapshots): SharedState {
    const { files } = this
    return {
      follow: async (changes: readonly Change[]) => {
        for (const { kind, subject, entry } of changes)
          if (kind === 'policy') policy.follow(entry)
          else if (kind === 'file') void files.follow(subject, entry)
          else if (kind === 'snapshot') snapshots.follow(subject, entry)
        await leases.followAll(changes.filter(({ kind }) => kind === 'lease'))
      },
      load: async () => {
        await policy.load()
        return { leases: await leases.load(), snapshots: await snapshots.load() }
      },
      fill: async (loaded) => {
        const found = loaded as Loaded
        await files.publish()
        await leases.fill(found.leases)
        await snapshots.fill(found.snapshots)
      },
      flush: async () => {
        // Those that could not be given while the engine was down.
        await files.publish()
        await leases.flush()
        await snapshots.flush()
      },
      forget: () => files.forget(),
    }
  }

  async #resume(lease: Lease): Promise<void> {
    const isOwn = lease.machine === this.name && lease.ports !== undefined && !lease.ended.aborted
    if (!isOwn || this.#resumed.has(lease)) return
    this.#resumed.add(lease)
    await this.#parts?.resumePorts(lease)
  }

  async #socketOf(visitor: LinkedVisitor, pipe: Pipe): Promise<Socket> {
    const { near, far } = await this.#pairs.open()
    this.#sockets.track(far)
    // A reset goes on as one, by which a service of a dedicated port knows that bytes are missing.
    visitor.once('close', () => {
      if (!visitor.readableEnded) resetSocket(near)
    })
    void pipe(visitor, near, new Bandwidth(() => 0))
    return far
  }

  #status(): MachineStatus {
    const { visitors, counters, leases } = this.#parts ?? {}
    const { usedBytes = 0, maxBytes = 0 } = this.#snapshots?.use ?? {}
    const { fromVisitors, toVisitors } = visitors?.traffic ?? { fromVisitors: 0, toVisitors: 0 }
    return {
      run: this.#run,
      release: RELEASE_VERSION,
      isDraining: this.#isDraining,
      startedAt: this.#startedAt,
      carriers: counters?.carriers ?? 0,
      readySessions: leases === undefined ? 0 : countReadySessions(leases),
      // Another machine has the sockets of those whom it passes on, and counts them.
      visitors: Math.max(0, (visitors?.size ?? 0) - (this.#links?.linkedVisitors ?? 0)),
      fromVisitors,
      toVisitors,
      cacheUsed: usedBytes,
      cacheMax: maxBytes,
    }
  }

  /** Sums what the static caches of the other machines use. */
  #cacheElsewhere(): CacheUse {
    const others = this.#machines.others.filter((machine) => this.#machines.isAlive(machine))
    const sum = (bytesOf: (machine: MachineStatus) => number): number =>
      others.reduce((all, machine) => all + bytesOf(machine), 0)
    return { usedBytes: sum(({ cacheUsed }) => cacheUsed), maxBytes: sum(({ cacheMax }) => cacheMax) }
  }
}

function clientIpOf(visitor: PendingVisitor['visitor'], addresses: ClientAddresses): string | undefined {
  if (visitor.isLinked) return (visitor as LinkedVisitor).remoteAddress
  return addresses.ofSocket(visitor as unknown as Parameters<ClientAddresses['ofSocket']>[0])
}

/** @returns undefined for what is no identity */
function canonicalHostname(identityKey: string, routes: RoutingTable<Route>): string | undefined {
  const colon = identityKey.lastIndexOf(':')
  try {
    return routes.hostname(canonicalLabel(identityKey.slice(0, colon), identityKey.slice(colon + 1)))
  } catch {
    return undefined
  }
}
