// Connects the parts of this machine's relay to the other machines.

import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { resetSocket } from '@svc/node-kit/sockets'
import { canonicalLabel } from '@svc/protocol'
import { LoopbackPairs } from '../../core/bridge/loopback-pairs.ts'
import type { Pipe } from '../../core/bridge/pipe.ts'
import type { VisitorServer } from '../../core/bridge/visitor-server.ts'
import type { Visitors } from '../../core/bridge/visitors.ts'
import type { ClientAddresses } from '../../core/client-address/client-addresses.ts'
import type { Settings } from '../../core/config/settings.ts'
import { SettingsError } from '../../core/config/settings-error.ts'
import { OpenSockets } from '../../core/ingress/open-sockets.ts'
import type { SpendBinding } from '../../core/keyless/keyless-signer.ts'
import type { Lease } from '../../core/lease/lease.ts'
import type { LeaseRegistry } from '../../core/lease/lease-registry.ts'
import type { Reservations } from '../../core/lease/reservations.ts'
import type { Route } from '../../core/lease/route.ts'
import type { ClusterReadings } from '../../core/metrics/cluster-readings.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { RelayCounters } from '../../core/metrics/relay-counters.ts'
import type { SharedReadBuffer } from '../../core/node-internals/shared-read-buffer.ts'
import type { Machines } from '../../core/peers.ts'
import type { Policy } from '../../core/policy/policy.ts'
import { Bandwidth } from '../../core/rate-limit/bandwidth.ts'
import type { RequestMemory } from '../../core/rate-limit/request-memory.ts'
import type { PendingVisitor } from '../../core/reverse/pending-visitor.ts'
import { countReadySessions } from '../../core/reverse/ready-queues.ts'
import type { RoutingTable } from '../../core/routing/routing-table.ts'
import type { LeaseTraffic } from '../../core/traffic/lease-traffic.ts'
import { RELEASE_VERSION } from '../../core/version.ts'
import type { CacheUse } from '../static-cache/snapshot-sharing.ts'
import type { ClusterConnection } from './connection.ts'
import { ClusterLeases } from './leases/cluster-leases.ts'
import { LEAVE_MS } from './limits.ts'
import { createLinkCertificate } from './links/link-certificate.ts'
import type { LinkedVisitor } from './links/linked-visitor.ts'
import { MachineLinks } from './links/machine-links.ts'
import { KnownMachines, type MachineStatus } from './machines.ts'
import { registerClusterMetrics } from './metrics.ts'
import { clusterReadings } from './readings.ts'
import { ChangeFeed, type SharedState } from './redis/change-feed.ts'
import { type Change, RedisError, type RedisState } from './redis/redis-client.ts'
import type { ClusterSettings } from './settings.ts'
import { SharedAttempts } from './shared/shared-attempts.ts'
import { SharedChallenges } from './shared/shared-challenges.ts'
import { SharedOrders } from './shared/shared-orders.ts'
import { SharedPolicy } from './shared/shared-policy.ts'
import { SharedPolicyChanges } from './shared/shared-policy-changes.ts'
import { SharedTraffic } from './shared/shared-traffic.ts'
import { SharedSnapshots } from './snapshots/shared-snapshots.ts'

/** What Redis has. */
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
  traffic: LeaseTraffic
  visitors: Visitors
  visitorServer: VisitorServer
  clientAddresses: ClientAddresses
  counters: RelayCounters
  pipe: Pipe
  readBuffer: SharedReadBuffer | undefined
  /** Maximum number of visitors that this machine accepts from others at once. */
  visitorsMax: number
  /** Uses up a binding of this machine, whichever of its processes issued it. */
  spend: SpendBinding
  /** Resolves when all processes of this machine know everything done before. */
  settled: () => Promise<void>
  /** Opens again the ports that a lease of this machine had before. */
  resumePorts: (lease: Lease) => Promise<void>
}

/** This machine as a member of the cluster: what it sends to the other machines, and what it receives. */
export class Cluster implements Machines {
  readonly #connection: ClusterConnection
  readonly #settings: Settings & { cluster: ClusterSettings }
  readonly #parts: RelayParts
  readonly #startedAt = Date.now()
  readonly #machines: KnownMachines
  readonly #policy: SharedPolicy
  readonly #links: MachineLinks
  readonly #feed: ChangeFeed
  readonly #pairs = new LoopbackPairs()
  /** The sockets, one of each pair, that stand for visitors of other machines. */
  readonly #sockets = new OpenSockets()
  /** Leases whose ports this machine has opened again. */
  readonly #resumed = new WeakSet<Lease>()
  #isDraining = false
  readonly leases: ClusterLeases
  readonly snapshots: SharedSnapshots
  readonly policyChanges: SharedPolicyChanges
  readonly readings: ClusterReadings
  /** The state of ACME that the machines share. */
  readonly orders: SharedOrders

  /** Does not contact the other machines yet. */
  constructor(
    connection: ClusterConnection,
    settings: Settings & { cluster: ClusterSettings },
    parts: RelayParts,
  ) {
    this.#connection = connection
    this.#settings = settings
    this.#parts = parts
    this.#machines = new KnownMachines({ ...connection, status: () => this.#status() })
    this.#policy = new SharedPolicy({ ...connection, policy: parts.policy, links: () => this.#links })
    this.leases = this.#shareLeases()
    this.snapshots = this.#shareSnapshots()
    this.#feed = new ChangeFeed({
      ...connection,
      state: this.#state(),
      beat: () => this.#machines.beat(),
      onStep: () => this.#links.stepped(),
    })
    this.#links = this.#linkMachines()
    this.policyChanges = new SharedPolicyChanges(connection)
    this.orders = new SharedOrders({
      ...connection,
      publish: (topic, text) => this.#links.publish(topic, text),
      acknowledged: () => this.#links.acknowledged(),
      onTold: (topic, listener) => this.#links.onTold(topic, listener),
    })
    new SharedTraffic({
      ...parts,
      machine: connection.name,
      publish: (topic, text) => this.#links.publish(topic, text),
      onTold: (topic, listener) => this.#links.onTold(topic, listener),
    })
    this.readings = clusterReadings({
      machines: this.#machines,
      status: () => this.#status(),
      redis: connection.redis,
      links: this.#links,
      feed: this.#feed,
    })
    connection.isOver = (...lease) => this.#isInStep || this.leases.isOver(...lease)
  }

  /** Machines that share the work. */
  get size(): number {
    return this.#machines.alive
  }

  metrics(metrics: Metrics): void {
    registerClusterMetrics(metrics, this.readings)
  }

  /** Reads the state in Redis and dials the other machines before it resolves. @throws SettingsError */
  async start(): Promise<void> {
    const { leases, policy } = this.#parts
    await this.#links.listen(this.#settings.cluster.listenPort, this.#settings.listenAddress)
    await this.#feed.start().catch((error) => {
      throw error instanceof RedisError ? new SettingsError('CLUSTER_URL', error.message) : error
    })
    policy.shareWith(this.#policy)
    for (const lease of leases) await this.#resume(lease)
    leases.onChange((lease) => void this.#resume(lease))
    this.#machines.onBeat((state) => this.#beat(state))
    this.#setMachines()
    this.#machines.start()
    // A site that registers elsewhere may connect here next: the other machines ask this one whether it knows the
    // lease.
    await this.#links.linked()
  }

  challenges(memory: RequestMemory): SharedChallenges {
    const { host, rateLimits } = this.#settings
    return new SharedChallenges({ ...this.#connection, host, rateLimits, memory })
  }

  failedAttempts(kind: string): SharedAttempts {
    return new SharedAttempts(this.#connection, kind)
  }

  /** Uses up a binding, at the machine that issued it. */
  spend: SpendBinding = (binding, lease, clientHello) => {
    const { bindingMark } = this.#connection
    const isOwn = binding.subarray(1, 1 + bindingMark.length).equals(bindingMark)
    const spend = isOwn ? this.#parts.spend : this.#links.spend
    return spend(binding, lease, clientHello)
  }

  /** Sends files that have changed here to the other machines. Never rejects: failed sends are retried later. */
  async share(files: readonly string[]): Promise<void> {
    const { files: shared, log } = this.#connection
    try {
      await shared.publish(files)
    } catch (error) {
      log.warn({ files, reason: (error as Error).message }, 'the other machines get these files later')
    }
  }

  async leave(hurry: AbortSignal): Promise<void> {
    this.#isDraining = true
    await this.#machines.beat().catch(() => {})
    await pause(LEAVE_MS, undefined, { signal: hurry }).catch(() => {})
    this.#links.refuseVisitors()
  }

  async close(): Promise<void> {
    await this.#machines.leave()
    await this.#feed.close()
    await this.#links.close()
    this.snapshots.close()
    this.#sockets.destroyAll()
    await this.#pairs.close()
  }

  /** Whether this machine receives the others' changes. */
  get #isInStep(): boolean {
    return this.#feed.epoch !== undefined
  }

  #shareLeases(): ClusterLeases {
    const { routes } = this.#parts
    return new ClusterLeases({
      ...this.#connection,
      ...this.#parts,
      machine: this.#connection.name,
      hostname: (label) => routes.hostname(label),
      epoch: () => this.#feed.epoch,
      isTakenElsewhere: (key) => this.#links.isTakenElsewhere(key),
      broadcast: (...said) => this.#links.broadcastLease(...said),
      sendToLagging: (...said) => this.#links.sendLeaseToLagging(...said),
      hasLagging: () => this.#links.hasLagging,
      settled: (change) => this.#links.settled(change),
      acknowledged: () => this.#links.acknowledged(),
    })
  }

  #shareSnapshots(): SharedSnapshots {
    const { routes } = this.#parts
    return new SharedSnapshots({
      ...this.#connection,
      machine: this.#connection.name,
      canonicalHostname: (identityKey) => canonicalHostname(identityKey, routes),
      routes,
      links: () => this.#links,
      useElsewhere: () => this.#cacheElsewhere(),
      isInStep: () => this.#isInStep,
    })
  }

  #linkMachines(): MachineLinks {
    const { leases, snapshots } = this
    const [connection, parts, policy, feed] = [this.#connection, this.#parts, this.#policy, this.#feed]
    const socketOf = (visitor: LinkedVisitor): Promise<Socket> => this.#socketOf(visitor)
    return new MachineLinks({
      ...connection,
      ...parts,
      machine: connection.name,
      certificate: createLinkCertificate(connection.key, connection.name),
      clientIpOf: ({ visitor }) => clientIpOf(visitor, parts.clientAddresses),
      reached: async (change) => {
        const isFollowed = await feed.reached(change)
        await parts.settled()
        return isFollowed
      },
      isInStep: () => this.#isInStep,
      applyLease: (...said) => leases.apply(...said),
      applyChange: (kind, subject, entry) => {
        if (kind === 'policy') policy.applyDirectly(entry)
        else if (kind === 'snapshot') snapshots.apply(subject, entry)
      },
      isTaken: (key) => leases.isTakenHere(key),
      current: function* () {
        const { entry } = policy
        if (entry !== undefined) yield { kind: 'change', of: 'policy', subject: '', entry }
        for (const [name, head] of leases.endedEarly()) yield { kind: 'lease', name, head, json: '' }
      },
      featureOf: (hostname) => snapshots.routeOf(hostname),
      socketOf,
      onReach: () => snapshots.judge(),
      toSocket: this.#settings.workers > 1 ? socketOf : undefined,
    })
  }

  #beat(state: RedisState): void {
    this.#feed.check(state)
    this.#setMachines()
    void this.leases.sweep().catch(() => {})
    void this.leases.flush().catch(() => {})
  }

  #setMachines(): void {
    this.#links.setMachines(this.#machines.others, (machine) => this.#machines.isAlive(machine))
  }

  #state(): SharedState {
    const { leases, snapshots } = this
    const { files } = this.#connection
    const policy = this.#policy
    return {
      apply: async (changes: readonly Change[]) => {
        for (const { kind, subject, entry } of changes)
          if (kind === 'policy') policy.apply(entry)
          else if (kind === 'file') void files.apply(subject, entry)
          else if (kind === 'snapshot') snapshots.apply(subject, entry)
        await leases.applyAll(changes.filter(({ kind }) => kind === 'lease'))
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
        // Files that could not be sent while Redis was down.
        await files.publish()
        await leases.flush()
        await snapshots.flush()
      },
      forget: () => files.forget(),
    }
  }

  async #resume(lease: Lease): Promise<void> {
    const isOwn = lease.machine === this.#connection.name && lease.ports !== undefined && !lease.ended.aborted
    if (!isOwn || this.#resumed.has(lease)) return
    this.#resumed.add(lease)
    await this.#parts.resumePorts(lease)
  }

  async #socketOf(visitor: LinkedVisitor): Promise<Socket> {
    const { near, far } = await this.#pairs.open()
    this.#sockets.track(far)
    // A reset is passed on as a reset, so that a service on a dedicated port knows that bytes are missing.
    visitor.once('close', () => {
      if (!visitor.readableEnded) resetSocket(near)
    })
    const { pipe } = this.#parts
    void pipe(visitor, near, new Bandwidth(() => 0))
    return far
  }

  #status(): MachineStatus {
    const { visitors, counters, leases } = this.#parts
    const { usedBytes = 0, maxBytes = 0 } = this.snapshots.use ?? {}
    const { fromVisitors, toVisitors } = visitors.traffic
    return {
      run: this.#connection.run,
      release: RELEASE_VERSION,
      isDraining: this.#isDraining,
      startedAt: this.#startedAt,
      carriers: counters.carriers,
      readySessions: countReadySessions(leases),
      // The machine that passes a visitor on has its socket, and counts it.
      visitors: Math.max(0, visitors.size - this.#links.linkedVisitors),
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

/** @returns undefined when the key is not that of an identity */
function canonicalHostname(identityKey: string, routes: RoutingTable<Route>): string | undefined {
  const colon = identityKey.lastIndexOf(':')
  try {
    return routes.hostname(canonicalLabel(identityKey.slice(0, colon), identityKey.slice(colon + 1)))
  } catch {
    return undefined
  }
}
