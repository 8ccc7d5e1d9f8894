// Manages the worker processes: starts them, sends them every change, and starts them again when they end.

import type { KeyObject } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { VisitorServer } from '../../core/bridge/visitor-server.ts'
import type { Visitors } from '../../core/bridge/visitors.ts'
import type { CertificateRotation } from '../../core/certificates/certificate-rotation.ts'
import { clockOrigin } from '../../core/clock.ts'
import { RestartBackoff } from '../../core/config/restart-backoff.ts'
import type { Settings } from '../../core/config/settings.ts'
import { CLOSE_GRACE_MS, type OpenSockets } from '../../core/ingress/open-sockets.ts'
import type { ProveName } from '../../core/ingress/sni-listener.ts'
import type { SpendBinding } from '../../core/keyless/keyless-signer.ts'
import type { Lease, LeaseEnd } from '../../core/lease/lease.ts'
import type { LeaseRegistry } from '../../core/lease/lease-registry.ts'
import type { Route } from '../../core/lease/route.ts'
import type { Logger } from '../../core/log/log.ts'
import type { RelayCounters } from '../../core/metrics/relay-counters.ts'
import type { Processes } from '../../core/peers.ts'
import type { Policy } from '../../core/policy/policy.ts'
import type { ConnectEndpoint } from '../../core/reverse/connect-endpoint.ts'
import type { RoutingTable } from '../../core/routing/routing-table.ts'
import type { LeaseTraffic } from '../../core/traffic/lease-traffic.ts'
import { receiveForwarded } from './api-channel.ts'
import {
  type CertificateFiles,
  type ChallengeVisitor,
  type FeatureVisitor,
  type HandedOver,
  sharedLease,
  type ToPrimary,
  type WorkerStart,
} from './messages.ts'
import {
  pendingVisitorOf,
  receiveSocket,
  refuseChallenge,
  refuseUnknownName,
  refuseVisitor,
} from './socket-handover.ts'
import { WorkerCounts } from './worker-counts.ts'
import { forkWorker, WorkerHandle } from './worker-handle.ts'

/** Leases in one message to a new worker process. */
const WORKER_LEASES_PER_MESSAGE = 256

export interface WorkerPoolParts {
  settings: Settings
  /** Machines that share the work at this moment. */
  machines: () => number
  /** The first bytes of the bindings of a process. */
  markOf: (processIndex: number) => Uint8Array
  /** Public key of the relay's identity. */
  publicKey: KeyObject
  certificates: CertificateRotation
  policy: Policy
  leases: LeaseRegistry
  routes: RoutingTable<Route>
  visitors: Visitors
  counters: RelayCounters
  traffic: LeaseTraffic
  log: Logger
}

/** The parts of the primary process that serve connections from the workers. */
export interface PrimaryServices {
  /** Called with decrypted connections to the root host. */
  serveDecrypted: (connection: Duplex) => void
  connect: ConnectEndpoint
  /** Serves visitors for whom the worker has no session. */
  visitorServer: Pick<VisitorServer, 'serve'>
  /** Proves a name to an ACME authority; undefined when ACME is off. */
  proveName?: ProveName | undefined
  /** Holds each socket that comes from a worker. */
  sockets: OpenSockets
}

/** A worker's position among the processes: when a worker dies, another one takes its position. */
interface Slot {
  processIndex: number
  link: WorkerHandle | undefined
  backoff: RestartBackoff
}

/** The arguments of every start of a worker. */
interface Begin {
  port: number
  services: PrimaryServices
}

export class WorkerPool implements Processes {
  readonly #parts: WorkerPoolParts
  readonly #slots: Slot[]
  readonly #leases = new Map<string, Lease>()
  #isClosing = false

  constructor(parts: WorkerPoolParts) {
    this.#parts = parts
    this.#slots = Array.from({ length: parts.settings.workers - 1 }, (_, index) => ({
      processIndex: index + 1,
      link: undefined,
      backoff: new RestartBackoff(),
    }))
    parts.leases.onChange((lease) => this.#sendLease(lease))
    parts.routes.onCover((hostname) => {
      const isCovered = parts.routes.isCovered(hostname)
      for (const link of this.#links) link.send({ kind: 'covers', hostnames: [hostname], isCovered })
    })
    parts.policy.onChange(() => {
      for (const link of this.#links) link.send({ kind: 'policy', file: parts.policy.file })
    })
    parts.certificates.onReplace(() => {
      const certificates = this.#certificateFiles()
      for (const link of this.#links) link.send({ kind: 'certificates', certificates })
    })
  }

  /** Resolves when each worker listens at `port`. Rejects with the error of the first that cannot. */
  async start(port: number, services: PrimaryServices): Promise<void> {
    services.connect.onCarrier(({ id }) => this.#probe(id, services.connect))
    const begin = { port, services }
    await Promise.all(
      this.#slots.map((slot) => new Promise<void>((...settle) => this.#start(slot, begin, settle))),
    )
  }

  get size(): number {
    return this.#parts.settings.workers
  }

  async settled(): Promise<void> {
    await Promise.all(this.#links.map((link) => link.settled()))
  }

  /** Spends a binding that a worker process issued. */
  spend: SpendBinding = (binding, lease, clientHello) => {
    const link = this.#slots[(binding[0] ?? 0) - 1]?.link
    if (link === undefined) return false
    return link.ask((question) => ({ kind: 'spend', question, lease: lease.id, binding, clientHello }))
  }

  makeRoom(lease: Lease): void {
    const busiest = this.#parts.visitors.busiestProcess(lease)
    this.#links.find((link) => link === busiest)?.send({ kind: 'make-room', lease: lease.id })
  }

  stopListening(): void {
    this.#isClosing = true
    for (const link of this.#links) link.send({ kind: 'stop-listening' })
  }

  leave(): void {
    for (const link of this.#links) link.send({ kind: 'leave' })
  }

  async end(isGraceful: boolean): Promise<void> {
    this.#isClosing = true
    await Promise.all(this.#links.map((link) => link.end(isGraceful, isGraceful ? CLOSE_GRACE_MS : 0)))
  }

  get #links(): WorkerHandle[] {
    return this.#slots.flatMap(({ link }) => link ?? [])
  }

  #start(slot: Slot, begin: Begin, [listening, failed]: [() => void, (error: Error) => void]): void {
    const { visitors, counters, traffic } = this.#parts
    const { services } = begin
    const startedAt = performance.now()
    const link = new WorkerHandle(
      {
        onMessage: (message, socket) => {
          if (message.kind === 'listening') listening()
          else if (message.kind === 'failed') failed(listenError(message))
          else if (message.kind === 'visitor') this.#receive(message, socket, link, services)
          else if (message.kind === 'feature-visitor') this.#receiveFeatureVisitor(message, socket, services)
          else if (message.kind === 'challenge') this.#receiveChallenge(message, socket, services)
          else if (message.kind === 'carrier') this.#probe(message.lease, services.connect, link)
          else if (message.kind === 'counts') counts.update(message.leases, (id) => this.#leases.get(id))
          else if (message.kind === 'traffic') counts.addTraffic(message, (id) => this.#leases.get(id))
          else counts.add(message)
        },
        onEnd: (cause) => {
          slot.link = undefined
          counts.lost()
          if (this.#isClosing) return
          failed(new Error(`a worker ended: ${cause}`))
          this.#startLater(slot, begin, { cause, livedMs: performance.now() - startedAt })
        },
      },
      forkWorker(this.#parts.settings.names),
    )
    const counts = new WorkerCounts(link, { visitors, counters, traffic })
    if (link.apiChannel) receiveForwarded(link.apiChannel, services.serveDecrypted)
    link.send(this.#startMessage(slot.processIndex, begin))
    for (const leases of chunks([...this.#leases.values()], WORKER_LEASES_PER_MESSAGE))
      link.send({ kind: 'leases', leases: leases.map(sharedLease) })
    for (const hostnames of chunks(this.#parts.routes.coveredHostnames, WORKER_LEASES_PER_MESSAGE))
      link.send({ kind: 'covers', hostnames, isCovered: true })
    slot.link = link
  }

  #startLater(slot: Slot, begin: Begin, { cause, livedMs }: { cause: string; livedMs: number }): void {
    const pauseMs = slot.backoff.after(livedMs)
    this.#parts.log.error(
      { worker: slot.processIndex, cause, pauseMs },
      'a worker ended; its visitors are disconnected, it is started again',
    )
    setTimeout(() => this.#startAgain(slot, begin), pauseMs).unref()
  }

  #startAgain(slot: Slot, begin: Begin): void {
    if (this.#isClosing) return
    const { log } = this.#parts
    this.#start(slot, begin, [
      () => log.info({ worker: slot.processIndex }, 'worker listening'),
      (error) => log.error({ worker: slot.processIndex, err: error }, 'a worker does not listen'),
    ])
  }

  #startMessage(processIndex: number, { port, services }: Begin): WorkerStart {
    const { settings, publicKey, policy, log } = this.#parts
    return {
      kind: 'begin',
      processIndex,
      clockOrigin: clockOrigin(),
      processes: settings.workers * this.#parts.machines(),
      sketchKey: this.#parts.traffic.key,
      bindingMark: this.#parts.markOf(processIndex),
      port,
      host: settings.listenAddress,
      rootHost: settings.rootHost,
      ownPorts: settings.ownPorts,
      issuer: settings.url.origin,
      publicKey: publicKey.export({ type: 'spki', format: 'der' }),
      certificates: this.#certificateFiles(),
      provesNames: services.proveName !== undefined,
      overlayPort: settings.overlayPort,
      policy: policy.file,
      trustedProxies: settings.trustedProxies.text,
      logLevel: log.level,
    }
  }

  #certificateFiles(): CertificateFiles {
    const { current, hasCertificate } = this.#parts.certificates
    const keyPem = current.key.export({ type: 'pkcs8', format: 'pem' }).toString()
    return { chainPem: current.chainPem, keyPem, isPlaceholder: !hasCertificate }
  }

  #sendLease(lease: Lease): void {
    const { aborted, reason } = lease.ended
    if (aborted) this.#leases.delete(lease.id)
    else this.#leases.set(lease.id, lease)
    for (const link of this.#links)
      link.send(
        aborted
          ? { kind: 'ended', lease: lease.id, reason: reason as LeaseEnd }
          : { kind: 'leases', leases: [sharedLease(lease)] },
      )
  }

  /** @param origin the worker that has the new WebSocket, and has probed its others; undefined when that is this process */
  #probe(id: string, connect: ConnectEndpoint, origin?: WorkerHandle): void {
    const lease = this.#leases.get(id)
    if (origin !== undefined && lease !== undefined) connect.probeCarriers(lease)
    for (const link of this.#links) if (link !== origin) link.send({ kind: 'probe', lease: id })
  }

  #receive(
    message: HandedOver,
    socket: Socket | undefined,
    from: WorkerHandle,
    { sockets, visitorServer }: PrimaryServices,
  ): void {
    if (socket === undefined) return
    const { log } = this.#parts
    const visitor = receiveSocket(socket, message)
    sockets.track(visitor)
    const lease = this.#leases.get(message.lease)
    if (lease === undefined || hasLost(lease, message)) {
      refuseVisitor(visitor, message)
      return
    }
    visitorServer.serve(pendingVisitorOf(visitor, lease, message, from)).catch((error) => {
      log.error({ err: error }, 'visitor failed')
      visitor.destroy()
    })
  }

  #receiveChallenge(
    message: ChallengeVisitor,
    socket: Socket | undefined,
    { sockets, proveName }: PrimaryServices,
  ): void {
    if (socket === undefined) return
    receiveSocket(socket, message)
    sockets.track(socket)
    if (proveName?.(socket, message.serverName) !== true) refuseChallenge(socket)
  }

  /** The feature may have closed while the visitor was on the way. */
  #receiveFeatureVisitor(
    message: FeatureVisitor,
    socket: Socket | undefined,
    { sockets }: PrimaryServices,
  ): void {
    if (socket === undefined) return
    const { routes, log } = this.#parts
    const visitor = receiveSocket(socket, message)
    sockets.track(visitor)
    const route = routes.resolve(message.serverName)
    if (route?.to !== 'feature' || !route.isOpen()) {
      refuseUnknownName(visitor)
      return
    }
    route.serve(visitor, message.serverName, message.clientIp).catch((error) => {
      log.error({ err: error }, 'visitor of a feature failed')
      visitor.destroy()
    })
  }
}

/** Whether the custom domain of a visitor who was on the way leads elsewhere by now. One with a binding came to the name of another relay. */
function hasLost(lease: Lease, { hello, binding }: HandedOver): boolean {
  return hello?.serverName !== undefined && binding === undefined && !lease.isAt(hello.serverName)
}

/** Makes the error that the listener of this process would emit. */
function listenError({ message, code, port }: ToPrimary & { kind: 'failed' }): Error {
  return Object.assign(new Error(message), { code, port })
}

function* chunks<T>(all: readonly T[], size: number): Iterable<T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
}
