// The names of what the relay keeps in Redis. Keyed hashes stand for everything that reveals who uses the relay:
// identities, hostnames, networks of clients.

import type { Seal } from '../shared/seal.ts'

/**
 * The braces make Redis Cluster keep all entries of a relay on one node, since a script changes several of them in one
 * step.
 */
export class RedisKeys {
  readonly #prefix: string
  readonly #seal: Seal

  /** @param host authority of the relay's URL: several relays may share a Redis */
  constructor(host: string, seal: Seal) {
    this.#prefix = `{svc:${host}}:`
    this.#seal = seal
  }

  /** Identifies the data in Redis: it changes when Redis has lost everything. */
  get epoch(): string {
    return `${this.#prefix}epoch`
  }

  /** The last fencing token. */
  get fence(): string {
    return `${this.#prefix}fence`
  }

  get changes(): string {
    return `${this.#prefix}changes`
  }

  get machines(): string {
    return `${this.#prefix}machines`
  }

  get policy(): string {
    return `${this.#prefix}policy`
  }

  /** The last changes of the policy, the newest first. */
  get policyChanges(): string {
    return `${this.#prefix}policy-changes`
  }

  /** The number of the last change of the policy. */
  get policyChangeNumber(): string {
    return `${this.#prefix}policy-change-number`
  }

  /** The name that stands for an identity in keys, in indices and in the stream of changes. */
  identityName(identityKey: string): string {
    return this.#seal.nameOf('identity', identityKey)
  }

  /** The name that stands for a hostname in the head of a lease. */
  hostnameName(hostname: string): string {
    return this.#seal.nameOf('hostname', hostname)
  }

  /** Prefix of the keys of leases, which the name of an identity follows. */
  get leases(): string {
    return `${this.#prefix}lease:`
  }

  /** Index of leases: the name of each identity, by the time at which its entry was last checked. */
  get leaseIndex(): string {
    return `${this.#prefix}leases`
  }

  lease(identityName: string): string {
    return this.leases + identityName
  }

  /** The name of the identity that has a hostname. */
  holder(hostnameName: string): string {
    return `${this.#prefix}name:${hostnameName}`
  }

  /** The identity that has a custom domain, with the time of its proof. */
  customDomain(domain: string): string {
    return `${this.#prefix}domain:${this.hostnameName(domain)}`
  }

  challenge(id: string): string {
    return `${this.#prefix}challenge:${this.challengeName(id)}`
  }

  /** The name that stands for a challenge, among the open ones of its network and for its seal. */
  challengeName(id: string): string {
    return this.#seal.nameOf('challenge', id)
  }

  /** Prefix of the keys of open challenges, which the name of a network follows. */
  get openChallenges(): string {
    return `${this.#prefix}challenges:`
  }

  networkName(network: string): string {
    return this.#seal.nameOf('network', network)
  }

  /** The budget of a network, or of the relay. */
  budget(scope: string): string {
    return `${this.#prefix}budget:${this.networkName(scope)}`
  }

  /** The last wrong secrets of one kind from a network. */
  failures(kind: string, network: string): string {
    return `${this.#prefix}failures:${kind}:${this.networkName(network)}`
  }

  file(name: string): string {
    return `${this.#prefix}file:${name}`
  }

  /** The certificate chain that a machine has obtained for a site. */
  siteChain(identityKey: string): string {
    return `${this.#prefix}chain:${this.identityName(identityKey)}`
  }

  /** The machine that has a site's snapshot. */
  snapshot(identityName: string): string {
    return `${this.#prefix}snapshot:${identityName}`
  }

  /** Index of snapshots: the name of each identity, by the time at which its entry expires. */
  get snapshotIndex(): string {
    return `${this.#prefix}snapshots`
  }

  /** @param what may identify a site */
  lock(what: string): string {
    return `${this.#prefix}lock:${this.#seal.nameOf('lock', what)}`
  }

  /** The name that stands for a machine in the list of machines. */
  machineName(machine: string): string {
    return this.#seal.nameOf('machine', machine)
  }
}
