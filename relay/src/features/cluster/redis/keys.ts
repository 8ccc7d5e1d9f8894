// The names of what the relay keeps in Redis. Keyed hashes stand for all that says who uses the relay: identities, hostnames,
// networks of clients.

import type { Seal } from '../shared/seal.ts'

/** The braces make Redis Cluster keep all of a relay together, since scripts change several of its entries in one step. */
export class RedisKeys {
  readonly #prefix: string
  readonly #seal: Seal

  /** @param host authority of the relay's URL: several relays may share a Redis */
  constructor(host: string, seal: Seal) {
    this.#prefix = `{svc:${host}}:`
    this.#seal = seal
  }

  /** Names what Redis has: it is another one after Redis lost everything. */
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

  /** The number of the last of them. */
  get policyChangeNumber(): string {
    return `${this.#prefix}policy-change-number`
  }

  /** What stands for an identity, in names of entries, in indices and in the stream of changes. */
  identityName(identityKey: string): string {
    return this.#seal.nameOf('identity', identityKey)
  }

  /** What stands for a hostname in the head of a lease. */
  hostnameName(hostname: string): string {
    return this.#seal.nameOf('hostname', hostname)
  }

  /** Begin of the entries of leases, each followed by the name of an identity. */
  get leases(): string {
    return `${this.#prefix}lease:`
  }

  /** The names of the identities of all entries of leases, by the time of the last look at each. */
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

  challenge(id: string): string {
    return `${this.#prefix}challenge:${this.challengeName(id)}`
  }

  /** What stands for a challenge, among the open ones of its network and where it is sealed. */
  challengeName(id: string): string {
    return this.#seal.nameOf('challenge', id)
  }

  /** Begin of the names of the open challenges of networks, each followed by the name of a network. */
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

  file(name: string): string {
    return `${this.#prefix}file:${name}`
  }

  /** The chain that a machine has got for a site. */
  siteChain(identityKey: string): string {
    return `${this.#prefix}chain:${this.identityName(identityKey)}`
  }

  /** The machine that has a site's snapshot. */
  snapshot(identityName: string): string {
    return `${this.#prefix}snapshot:${identityName}`
  }

  /** The names of the identities of all snapshots, by the time at which each entry ends. */
  get snapshotIndex(): string {
    return `${this.#prefix}snapshots`
  }

  /** @param what may say a site */
  lock(what: string): string {
    return `${this.#prefix}lock:${this.#seal.nameOf('lock', what)}`
  }

  /** What stands for a machine in the list of machines. */
  machineName(machine: string): string {
    return this.#seal.nameOf('machine', machine)
  }
}
