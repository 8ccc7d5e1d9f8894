// The figures of a site's connections.

/** ConnectionStats count visitors' connections. Visitors who wait for one are at the relay, and do not count. */
export interface ConnectionStats {
  /** The number of open connections, with those that are being closed for others. */
  open: number
  /** The number of open connections that are idle. The SDK closes these for others when it reaches `max`. */
  idle: number
  /** The limit, which the option `maxConnections` sets. */
  max: number
  /** The number of connections that were ever closed for others. */
  closedForOthers: number
}
