// Finds the route of a server name: first the root host's own, then an exact hostname, then a wildcard.

const WILDCARD = '*.'

/** Maps hostnames to routes of any type, which it compares by identity. */
export class RoutingTable<Route> {
  readonly #rootHost: string
  readonly #root: Route
  readonly #exact = new Map<string, Route>()
  /** By the name after the wildcard label. The map is separate, so that no server name can match a literal `*`. */
  readonly #wildcards = new Map<string, Route>()
  /** Hostnames whose visitors another route takes first. */
  readonly #covers = new Map<string, Route>()
  readonly #onCover = new Set<(hostname: string) => void>()

  /** @param root the route of the root host, which no other route can replace */
  constructor(rootHost: string, root: Route) {
    this.#rootHost = rootHost
    this.#root = root
  }

  /** The hostname of `label` on this relay. */
  hostname(label: string): string {
    return `${label}.${this.#rootHost}`
  }

  /** @param serverName lower case, without a trailing dot */
  resolve(serverName: string): Route | undefined {
    if (serverName === this.#rootHost) return this.#root
    const exact = this.#covers.get(serverName) ?? this.#exact.get(serverName)
    if (exact !== undefined) return exact
    const dot = serverName.indexOf('.')
    // RFC 9525 §6.3: a wildcard stands for one whole label.
    return dot > 0 ? this.#wildcards.get(serverName.slice(dot + 1)) : undefined
  }

  /** The route that was published at `hostname` itself. */
  publishedAt(hostname: string): Route | undefined {
    const [routes, name] = this.#slotOf(hostname)
    return routes.get(name)
  }

  /** @param hostname may begin with `*.`, which stands for every label without its own route */
  publish(hostname: string, route: Route): void {
    const [routes, name] = this.#slotOf(hostname)
    routes.set(name, route)
  }

  /** Does nothing if another route has been published there since. */
  withdraw(hostname: string, route: Route): void {
    const [routes, name] = this.#slotOf(hostname)
    if (routes.get(name) === route) routes.delete(name)
  }

  /**
   * Sends the visitors of `hostname` to `route`, whatever is published there or withdrawn in the meantime.
   * @param hostname without a wildcard
   */
  cover(hostname: string, route: Route): void {
    this.#covers.set(hostname, route)
    this.#notify(hostname)
  }

  /** Does nothing if another route has covered the hostname since. */
  uncover(hostname: string, route: Route): void {
    if (this.#covers.get(hostname) !== route) return
    this.#covers.delete(hostname)
    this.#notify(hostname)
  }

  get coveredHostnames(): readonly string[] {
    return [...this.#covers.keys()]
  }

  isCovered(hostname: string): boolean {
    return this.#covers.has(hostname)
  }

  /** @param listener called with each hostname that is covered or uncovered */
  onCover(listener: (hostname: string) => void): void {
    this.#onCover.add(listener)
  }

  #notify(hostname: string): void {
    for (const listener of this.#onCover) listener(hostname)
  }

  #slotOf(hostname: string): [Map<string, Route>, string] {
    return hostname.startsWith(WILDCARD)
      ? [this.#wildcards, hostname.slice(WILDCARD.length)]
      : [this.#exact, hostname]
  }
}
