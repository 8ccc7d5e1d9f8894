// The figures of a site's connections.

/** ConnectionStats count visitors' connections, without the visitors who wait at the relay. */
export interface ConnectionStats {
  /** The number of open connections, including those that are being closed for others. */
  open: number
  /** The number of open connections that are idle. The SDK closes these for others when it reaches `max`. */
  idle: number
  /** The limit, which the option `maxConnections` sets. */
  max: number
  /** The total of connections closed for others. */
  closedForOthers: number
}
