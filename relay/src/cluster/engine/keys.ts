// The names of what the relay keeps in the engine.

/** The braces make Redis Cluster keep all of a relay together, since scripts change several of its entries in one step. */
export class EngineKeys {
  readonly #prefix: string

  /** @param host authority of the relay's URL: several relays may share an engine */
  constructor(host: string) {
    this.#prefix = `{svc:${host}}:`
  }

  /** Names what the engine has: it is another one after the engine lost everything. */
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

  /** Begin of the entries of leases, each followed by an identity key. */
  get leases(): string {
    return `${this.#prefix}lease:`
  }

  /** The identity keys of all entries of leases, by the time of the last look at each. */
  get leaseIndex(): string {
    return `${this.#prefix}leases`
  }

  lease(identityKey: string): string {
    return this.leases + identityKey
  }

  name(hostname: string): string {
    return `${this.#prefix}name:${hostname}`
  }

  challenge(id: string): string {
    return `${this.#prefix}challenge:${id}`
  }

  /** The open challenges of a network. */
  openChallenges(network: string): string {
    return `${this.#prefix}challenges:${network}`
  }

  /** The budget of a network, or of the relay. */
  budget(scope: string): string {
    return `${this.#prefix}budget:${scope}`
  }

  file(name: string): string {
    return `${this.#prefix}file:${name}`
  }

  /** The chain that a machine has got for a site. */
  siteChain(identityKey: string): string {
    return `${this.#prefix}chain:${identityKey}`
  }

  /** The machine that has a site's snapshot. */
  snapshot(identityKey: string): string {
    return `${this.#prefix}snapshot:${identityKey}`
  }

  /** The identity keys of all snapshots, by the time at which each entry ends. */
  get snapshotIndex(): string {
    return `${this.#prefix}snapshots`
  }

  lock(name: string): string {
    return `${this.#prefix}lock:${name}`
  }
}
