// The links between this machine and all others: which are reachable, their messages, and the visitors passed on.

import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Stream } from '@svc/yamux'
import type { Pipe } from '../../../core/bridge/pipe.ts'
import type { VisitorServer } from '../../../core/bridge/visitor-server.ts'
import type { SpendBinding } from '../../../core/keyless/keyless-signer.ts'
import type { Lease } from '../../../core/lease/lease.ts'
import type { LeaseRegistry } from '../../../core/lease/lease-registry.ts'
import type { FeatureRoute } from '../../../core/lease/route.ts'
import type { Logger } from '../../../core/log/log.ts'
import type { SharedReadBuffer } from '../../../core/node-internals/shared-read-buffer.ts'
import type { PolicyRules } from '../../../core/policy/policy-rules.ts'
import type { PendingVisitor } from '../../../core/reverse/pending-visitor.ts'
import { LINK_LOOK_MS, LINK_SETTLE_MS } from '../limits.ts'
import { addressOf, type Machine } from '../machines.ts'
import type { FeatureHead } from './feature-head.ts'
import type { LinkCertificate } from './link-certificate.ts'
import { LinkClient } from './link-client.ts'
import type { LinkMessage, Question } from './link-messages.ts'
import { type IncomingLink, LinkServer } from './link-server.ts'
import { LinkedVisitor } from './linked-visitor.ts'
import { type HandOverCounts, PeerMachine } from './peer-machine.ts'
import { SessionCounts } from './session-counts.ts'
import { NOT_TAKEN, TAKEN, type VisitorHead } from './visitor-head.ts'

/** An id before all changes, which every machine has applied. */
const NO_CHANGE = '0-0'

/** Bytes of a binding that identify the machine which issued it. */
const MACHINE_MARK_BYTES = 3

interface MachineLinksParts {
  machine: string
  run: string
  certificate: LinkCertificate
  readBuffer: SharedReadBuffer | undefined
  pipe: Pipe
  leases: LeaseRegistry
  policy: Pick<PolicyRules, 'routes'>
  visitorServer: Pick<VisitorServer, 'serve'>
  /** Maximum number of visitors that this machine accepts from others at once. */
  visitorsMax: number
  clientIpOf: (pending: PendingVisitor) => string | undefined
  /** Uses up a binding of this machine. */
  spend: SpendBinding
  /** Waits until a change is in force on this machine. @returns false when the change does not arrive */
  reached: (change: string) => Promise<boolean>
  /** Whether this machine is in step with Redis. */
  isInStep: () => boolean
  /** Applies a change that did not come through Redis. */
  applyChange: (kind: string, subject: string, entry: string) => void
  /** Applies an entry of a lease that Redis could not take. */
  applyLease: (identityName: string, head: string, json: string) => void
  /** Whether this machine knows that another identity has the friendly hostname of this one. */
  isTaken: (key: string) => boolean
  /** What to send to a machine that has just become reachable, since somebody may have put old entries into Redis. */
  current: () => Iterable<LinkMessage>
  /** Makes a socket of a visitor's stream when it may go to other processes of this machine. */
  toSocket: ((visitor: LinkedVisitor) => Promise<PendingVisitor['visitor']>) | undefined
  /** Returns the route to a snapshot of this machine. */
  featureOf: (hostname: string) => FeatureRoute | undefined
  /** Makes a socket of a visitor's stream. */
  socketOf: (visitor: LinkedVisitor) => Promise<Socket>
  /** Called when another machine becomes reachable or unreachable. */
  onReach: () => void
  log: Logger
}

export class MachineLinks {
  readonly counts: HandOverCounts = { handedOut: 0, handedIn: 0, handOversFailed: 0 }
  readonly #parts: MachineLinksParts
  readonly #server: LinkServer
  readonly #peers = new Map<string, PeerMachine>()
  readonly #sessions: SessionCounts
  readonly #topics = new Map<string, (text: string) => void>()
  #visitors = 0
  #takesVisitors = true

  constructor(parts: MachineLinksParts) {
    this.#parts = parts
    this.#sessions = new SessionCounts((counts) => this.#broadcast({ kind: 'sessions', counts }))
    this.#server = new LinkServer({
      ...parts,
      onLink: (link) => this.#arrived(link),
      onMessage: (message, link) => void this.#receive(message, link),
      onLinkClose: (link) => this.#left(link),
      onVisitor: (head, stream, machine) => this.#take(head, stream, machine),
      onFeatureVisitor: (head, stream) => this.#takeFeatureVisitor(head, stream),
    })
    for (const lease of parts.leases) this.#watch(lease)
    parts.leases.onChange((lease) => {
      if (!lease.ended.aborted) this.#watch(lease)
      else for (const peer of this.#peers.values()) peer.forget(lease)
    })
  }

  /** Number of visitors whom other machines have passed on to this one. */
  get linkedVisitors(): number {
    return this.#visitors
  }

  /** The bytes of a binding that identify this machine; they follow the byte of the process. */
  get mark(): Buffer {
    return markOf(this.#parts.machine)
  }

  /** @throws SettingsError when the port is not available */
  async listen(port: number, host?: string): Promise<void> {
    await this.#server.listen(port, host)
  }

  /** Dials the machines that are alive, and drops those that are gone. */
  setMachines(machines: readonly Machine[], isAlive: (machine: Machine) => boolean): void {
    for (const machine of machines) {
      const peer = this.#peers.get(machine.name)
      if (isAlive(machine)) this.#dial(machine.name)
      else if (peer !== undefined && !peer.isReachable && peer.source === undefined) this.#drop(peer)
    }
    const listed = new Set(machines.map(({ name }) => name))
    for (const peer of this.#peers.values())
      if (!listed.has(peer.name) && !peer.isReachable && peer.source === undefined) this.#drop(peer)
  }

  /**
   * Resolves when this machine and all that it has dialled can reach each other, at the latest after
   * {@link LINK_SETTLE_MS}.
   */
  async linked(): Promise<void> {
    const end = performance.now() + LINK_SETTLE_MS
    const isLinked = (peer: PeerMachine): boolean => peer.isReachable && peer.source !== undefined
    while (performance.now() < end && ![...this.#peers.values()].every(isLinked)) await pause(LINK_LOOK_MS)
  }

  isReachable(machine: string): boolean {
    return this.#peers.get(machine)?.isReachable === true
  }

  /**
   * Passes on the visitor of a snapshot.
   * @returns false when the machine does not accept it; the connection is then still open
   */
  async passOn(
    machine: string,
    visitor: Socket,
    serverName: string,
    clientIp: string | undefined,
  ): Promise<boolean> {
    return (await this.#peers.get(machine)?.passOn(visitor, serverName, clientIp)) === true
  }

  /**
   * Resolves when the reachable machines know a change, except those that {@link hasLagging} counts; at the latest after
   * {@link LINK_SETTLE_MS}.
   */
  async settled(change: string): Promise<void> {
    await Promise.all(
      Array.from(this.#peers.values(), async (peer) => {
        const hasReached = await peer.link?.ask({ kind: 'settle', change }, LINK_SETTLE_MS)
        if (hasReached !== undefined) peer.hasMissed = !hasReached
      }),
    )
  }

  /**
   * Resolves when the reachable machines have received all messages sent so far, at the latest after
   * {@link LINK_SETTLE_MS}.
   */
  async acknowledged(): Promise<void> {
    const question = { kind: 'settle', change: NO_CHANGE } as const
    await Promise.all(Array.from(this.#peers.values(), ({ link }) => link?.ask(question, LINK_SETTLE_MS)))
  }

  /** Whether a reachable machine currently does not receive changes from Redis. */
  get hasLagging(): boolean {
    for (const { isLagging } of this.#peers.values()) if (isLagging) return true
    return false
  }

  /** Whether a machine that can be reached knows that another identity has the friendly hostname of this one. */
  async isTakenElsewhere(key: string): Promise<boolean> {
    const question = { kind: 'taken', key } as const
    const answers = Array.from(this.#peers.values(), ({ link }) => link?.ask(question, LINK_SETTLE_MS))
    return (await Promise.all(answers)).includes(true)
  }

  broadcastLease(name: string, head: string, json: string): void {
    this.#broadcast({ kind: 'lease', name, head, json })
  }

  /** Sends a lease to the machines that do not receive it from Redis. */
  sendLeaseToLagging(name: string, head: string, json: string): void {
    this.#sendToLagging({ kind: 'lease', name, head, json })
  }

  /** Sends a change to the machines that do not receive it from Redis. */
  sendChangeToLagging(kind: string, subject: string, entry: string): void {
    this.#sendToLagging({ kind: 'change', of: kind, subject, entry })
  }

  /** Tells the others whether this machine is in step with Redis. */
  stepped(): void {
    this.#broadcast({ kind: 'step', isInStep: this.#parts.isInStep() })
  }

  /** Sends a text to the same part of all other machines. */
  publish(topic: string, text: string): void {
    this.#broadcast({ kind: 'tell', topic, text })
  }

  onTold(topic: string, listener: (text: string) => void): void {
    this.#topics.set(topic, listener)
  }

  /** Spends a binding that another machine issued. */
  spend: SpendBinding = async (binding, lease, clientHello) => {
    const mark = binding.subarray(1, 1 + MACHINE_MARK_BYTES)
    for (const { name, link } of this.#peers.values()) {
      if (!markOf(name).equals(mark)) continue
      const question = {
        kind: 'spend' as const,
        key: lease.identityKey,
        id: lease.id,
        binding: binding.toString('base64'),
        clientHello: Buffer.from(clientHello).toString('base64'),
      }
      if ((await link?.ask(question)) === true) return true
    }
    return false
  }

  /** Stops accepting visitors from other machines. */
  refuseVisitors(): void {
    this.#takesVisitors = false
  }

  async close(): Promise<void> {
    this.#sessions.close()
    for (const peer of [...this.#peers.values()]) this.#drop(peer)
    await this.#server.close()
  }

  #watch(lease: Lease): void {
    if (this.#watched.has(lease)) return
    this.#watched.add(lease)
    this.#sessions.watch(lease)
    for (const peer of this.#peers.values()) peer.apply(lease)
  }

  readonly #watched = new WeakSet<Lease>()

  #peer(name: string): PeerMachine {
    const known = this.#peers.get(name)
    if (known !== undefined) return known
    const { pipe, leases, clientIpOf } = this.#parts
    const peer = new PeerMachine({
      name,
      pipe,
      leaseOf: (key) => leases.ofIdentity(key),
      clientIpOf,
      counts: this.counts,
    })
    this.#peers.set(name, peer)
    return peer
  }

  #dial(name: string): void {
    const address = addressOf(name)
    const peer = this.#peer(name)
    if (peer.link !== undefined || address === undefined) return
    const { log } = this.#parts
    peer.link = new LinkClient({
      ...this.#parts,
      machine: name,
      address,
      onUp: () => {
        log.info({ machine: name }, 'another machine is reached')
        peer.link?.send({ kind: 'step', isInStep: this.#parts.isInStep() })
        for (const counts of this.#sessions.all()) peer.link?.send({ kind: 'sessions', counts })
        for (const message of this.#parts.current()) peer.link?.send(message)
        peer.changed()
        this.#parts.onReach()
      },
      onDown: () => {
        log.warn({ machine: name }, 'another machine cannot be reached')
        peer.changed()
        this.#parts.onReach()
      },
    })
  }

  #drop(peer: PeerMachine): void {
    this.#peers.delete(peer.name)
    peer.lost()
    peer.link?.close()
    this.#parts.onReach()
  }

  #arrived(link: IncomingLink): void {
    const peer = this.#peer(link.machine)
    peer.lost()
    peer.source = link
    this.#dial(link.machine)
  }

  #left(link: IncomingLink): void {
    const peer = this.#peers.get(link.machine)
    // The machine may have reconnected.
    if (peer?.source !== link) return
    peer.source = undefined
    peer.lost()
  }

  async #receive(message: LinkMessage, link: IncomingLink): Promise<void> {
    const peer = this.#peers.get(link.machine)
    if (peer?.source !== link) return
    if (message.kind === 'sessions') peer.report(message.counts)
    else if (message.kind === 'lease') this.#parts.applyLease(message.name, message.head, message.json)
    else if (message.kind === 'step') peer.isInStep = message.isInStep
    else if (message.kind === 'change') this.#parts.applyChange(message.of, message.subject, message.entry)
    else if (message.kind === 'tell') this.#topics.get(message.topic)?.(message.text)
    else if (message.kind !== 'answer')
      link.answer({ kind: 'answer', question: message.question, yes: await this.#answerTo(message) })
  }

  async #answerTo(message: Question): Promise<boolean> {
    const { reached, isInStep, isTaken } = this.#parts
    if (message.kind === 'spend') return await this.#spend(message)
    if (message.kind === 'settle') return await reached(message.change)
    // A machine that is out of step may have missed the end of a lease.
    return isInStep() && isTaken(message.key)
  }

  async #spend({ key, id, binding, clientHello }: LinkMessage & { kind: 'spend' }): Promise<boolean> {
    const lease = this.#parts.leases.ofIdentity(key)
    if (lease?.id !== id) return false
    return await this.#parts.spend(Buffer.from(binding, 'base64'), lease, Buffer.from(clientHello, 'base64'))
  }

  /** Serves a visitor who came in at another machine. */
  async #take(head: VisitorHead, stream: Stream, machine: string): Promise<void> {
    const { leases, policy, visitorsMax, toSocket, visitorServer } = this.#parts
    const lease = leases.ofIdentity(head.key)
    const isTaken =
      lease?.id === head.id && this.#takesVisitors && policy.routes(lease) && this.#visitors < visitorsMax
    await stream.write(Uint8Array.of(isTaken ? TAKEN : NOT_TAKEN))
    if (!isTaken) {
      await stream.end()
      return
    }
    const linked = this.#enter(stream, head.clientIp)
    try {
      await visitorServer.serve({
        visitor: (await toSocket?.(linked)) ?? linked,
        lease,
        hello: head.hello,
        addresses: head.addresses,
        binding: head.binding === undefined ? undefined : Buffer.from(head.binding, 'base64'),
        arrivedAt: performance.now() - head.ageMs,
        sessionsLost: head.sessionsLost,
        network: head.network,
        isLowPriority: head.isLowPriority,
        machinesPassed: head.machinesPassed,
        handedOverBy: this.#peers.get(machine),
      })
    } catch (error) {
      this.#parts.log.error({ err: error }, 'visitor of another machine failed')
      linked.destroy()
    }
  }

  /** Serves a visitor of a snapshot who came in at another machine. */
  async #takeFeatureVisitor({ serverName, clientIp }: FeatureHead, stream: Stream): Promise<void> {
    const { visitorsMax, featureOf, socketOf, log } = this.#parts
    const route = this.#takesVisitors && this.#visitors < visitorsMax ? featureOf(serverName) : undefined
    await stream.write(Uint8Array.of(route === undefined ? NOT_TAKEN : TAKEN))
    if (route === undefined) {
      await stream.end()
      return
    }
    const linked = this.#enter(stream, clientIp)
    try {
      await route.serve(await socketOf(linked), serverName, clientIp)
    } catch (error) {
      log.error({ err: error }, 'visitor of a snapshot, whom another machine passed on, failed')
      linked.destroy()
    }
  }

  #enter(stream: Stream, clientIp: string | undefined): LinkedVisitor {
    const linked = new LinkedVisitor(stream, clientIp)
    this.counts.handedIn += 1
    this.#visitors += 1
    linked.once('close', () => {
      this.#visitors -= 1
    })
    return linked
  }

  #broadcast(message: LinkMessage): void {
    for (const { link } of this.#peers.values()) link?.send(message)
  }

  #sendToLagging(message: LinkMessage): void {
    for (const { link, isLagging } of this.#peers.values()) if (isLagging) link?.send(message)
  }
}

/** Every machine derives the same mark. Two machines may have equal marks, which costs one more question. */
export function markOf(machine: string): Buffer {
  return createHash('sha256').update(machine).digest().subarray(0, MACHINE_MARK_BYTES)
}
