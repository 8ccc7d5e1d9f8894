// Manages the worker processes: starts them, sends them every change, and starts them again when they end.

import type { KeyObject } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Visitors } from '../bridge/visitors.ts'
import type { CertificateRotation } from '../certificates/certificate-rotation.ts'
import { clockOrigin } from '../clock.ts'
import { RestartBackoff } from '../config/restart-backoff.ts'
import type { Settings } from '../config/settings.ts'
import type { SpendBinding } from '../keyless/keyless-signer.ts'
import type { Lease, LeaseEnd } from '../lease/lease.ts'
import type { LeaseRegistry } from '../lease/lease-registry.ts'
import { CLOSE_GRACE_MS, WORKER_LEASES_PER_MESSAGE } from '../limits.ts'
import type { Logger } from '../log/log.ts'
import type { RelayCounters } from '../metrics/relay-counters.ts'
import type { Policy } from '../policy/policy.ts'
import type { ConnectEndpoint } from '../reverse/connect-endpoint.ts'
import type { PendingVisitor } from '../reverse/pending-visitor.ts'
import { receiveForwarded } from './api-channel.ts'
import {
  type CertificateFiles,
  type HandedOver,
  sharedLease,
  type ToPrimary,
  type WorkerStart,
} from './messages.ts'
import { pendingVisitorOf, receiveSocket, refuseVisitor } from './socket-handover.ts'
import { WorkerCounts } from './worker-counts.ts'
import { WorkerHandle } from './worker-handle.ts'

interface WorkersParts {
  settings: Settings
  /** Public key of the relay's identity. */
  publicKey: KeyObject
  certificates: CertificateRotation
  policy: Policy
  leases: LeaseRegistry
  visitors: Visitors
  counters: RelayCounters
  /** Called with each decrypted connection to the root host. */
  serveApi: (connection: Duplex) => void
  connect: ConnectEndpoint
  /** Called with each visitor for whom its worker process had no session. */
  serve: (pending: PendingVisitor) => Promise<void>
  /** Called with each socket that came from a worker process. */
  track: (socket: Socket) => void
  log: Logger
}

/** One process index and its current worker process. Another one follows when it ends. */
interface Slot {
  processIndex: number
  link: WorkerHandle | undefined
  backoff: RestartBackoff
}

export class WorkerPool {
  readonly #parts: WorkersParts
  readonly #slots: Slot[]
  readonly #leases = new Map<string, Lease>()
  #isClosing = false

  constructor(parts: WorkersParts) {
    this.#parts = parts
    this.#slots = Array.from({ length: parts.settings.workers - 1 }, (_, index) => ({
      processIndex: index + 1,
      link: undefined,
      backoff: new RestartBackoff(),
    }))
    if (this.#slots.length === 0) return
    parts.connect.onCarrier(({ id }) => this.#probe(id))
    parts.leases.onChange((lease) => this.#sendLease(lease))
    parts.policy.onChange(() => {
      for (const link of this.#links) link.send({ kind: 'policy', file: parts.policy.file })
    })
    parts.certificates.onReplace(() => {
      const certificates = this.#certificateFiles()
      for (const link of this.#links) link.send({ kind: 'certificates', certificates })
    })
  }

  /** Resolves when all worker processes listen at `port`. Rejects with the error of the first that cannot. */
  async start(port: number): Promise<void> {
    await Promise.all(
      this.#slots.map((slot) => new Promise<void>((...settle) => this.#start(slot, port, settle))),
    )
  }

  /** Resolves when all earlier messages are in force in all worker processes. */
  async settled(): Promise<void> {
    await Promise.all(this.#links.map((link) => link.settled()))
  }

  /** Spends a binding that a worker process issued. */
  spend: SpendBinding = (binding, lease, clientHello) => {
    const link = this.#slots[(binding[0] ?? 0) - 1]?.link
    if (link === undefined) return false
    return link.ask((question) => ({ kind: 'spend', question, lease: lease.id, binding, clientHello }))
  }

  /** Asks the process with the most visitors of the lease to close one, since a visitor waits here for a session. */
  makeRoom(lease: Lease): void {
    const busiest = this.#parts.visitors.busiestProcess(lease)
    this.#links.find((link) => link === busiest)?.send({ kind: 'make-room', lease: lease.id })
  }

  stopListening(): void {
    this.#isClosing = true
    for (const link of this.#links) link.send({ kind: 'stop-listening' })
  }

  /** Ends the worker processes. Resolves when all have ended. */
  async end(isGraceful: boolean): Promise<void> {
    this.#isClosing = true
    await Promise.all(this.#links.map((link) => link.end(isGraceful, isGraceful ? CLOSE_GRACE_MS : 0)))
  }

  get #links(): WorkerHandle[] {
    return this.#slots.flatMap(({ link }) => link ?? [])
  }

  #start(slot: Slot, port: number, [listening, failed]: [() => void, (error: Error) => void]): void {
    const { log, visitors, counters, serveApi } = this.#parts
    const startedAt = performance.now()
    const link = new WorkerHandle({
      onMessage: (message, socket) => {
        if (message.kind === 'listening') listening()
        else if (message.kind === 'failed') failed(listenError(message))
        else if (message.kind === 'visitor') this.#receive(message, socket, link)
        else if (message.kind === 'carrier') this.#probe(message.lease, link)
        else if (message.kind === 'counts') counts.update(message.leases, (id) => this.#leases.get(id))
        else counts.add(message)
      },
      onEnd: (cause) => {
        slot.link = undefined
        counts.lost()
        if (this.#isClosing) return
        failed(new Error(`a worker ended: ${cause}`))
        const pauseMs = slot.backoff.after(performance.now() - startedAt)
        log.error(
          { worker: slot.processIndex, cause, pauseMs },
          'a worker ended; its visitors are disconnected, it is started again',
        )
        setTimeout(() => this.#startAgain(slot, port), pauseMs).unref()
      },
    })
    const counts = new WorkerCounts(link, { visitors, counters })
    if (link.apiChannel) receiveForwarded(link.apiChannel, serveApi)
    link.send(this.#startMessage(slot.processIndex, port))
    for (const leases of chunks([...this.#leases.values()], WORKER_LEASES_PER_MESSAGE))
      link.send({ kind: 'leases', leases: leases.map(sharedLease) })
    slot.link = link
  }

  #startAgain(slot: Slot, port: number): void {
    if (this.#isClosing) return
    const { log } = this.#parts
    this.#start(slot, port, [
      () => log.info({ worker: slot.processIndex }, 'worker listening'),
      (error) => log.error({ worker: slot.processIndex, err: error }, 'a worker does not listen'),
    ])
  }

  #startMessage(processIndex: number, port: number): WorkerStart {
    const { settings, publicKey, policy, log } = this.#parts
    return {
      kind: 'begin',
      processIndex,
      clockOrigin: clockOrigin(),
      processes: settings.workers,
      port,
      rootHost: settings.rootHost,
      issuer: settings.url.origin,
      publicKey: publicKey.export({ type: 'spki', format: 'der' }),
      certificates: this.#certificateFiles(),
      policy: policy.file,
      trustedProxies: settings.trustedProxies.text,
      logLevel: log.level,
    }
  }

  #certificateFiles(): CertificateFiles {
    const { chainPem, key } = this.#parts.certificates.current
    return { chainPem, keyPem: key.export({ type: 'pkcs8', format: 'pem' }).toString() }
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

  /** @param origin the process with the new WebSocket, which has probed its others already; undefined for this process */
  #probe(id: string, origin?: WorkerHandle): void {
    const lease = this.#leases.get(id)
    if (origin !== undefined && lease !== undefined) this.#parts.connect.probeCarriers(lease)
    for (const link of this.#links) if (link !== origin) link.send({ kind: 'probe', lease: id })
  }

  #receive(message: HandedOver, socket: Socket | undefined, from: WorkerHandle): void {
    if (socket === undefined) return
    const { track, serve, log } = this.#parts
    const visitor = receiveSocket(socket, message)
    track(visitor)
    const lease = this.#leases.get(message.lease)
    if (lease === undefined) {
      refuseVisitor(visitor, message)
      return
    }
    serve(pendingVisitorOf(visitor, lease, message, from)).catch((error) => {
      log.error({ err: error }, 'visitor failed')
      visitor.destroy()
    })
  }
}

/** Makes the error that the listener of this process would have. */
function listenError({ message, code, port }: ToPrimary & { kind: 'failed' }): Error {
  return Object.assign(new Error(message), { code, port })
}

function* chunks<T>(all: readonly T[], size: number): Iterable<T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
}
