// Numbers of a site's visitors.

/** Visitors' connections; the relay has those of visitors who wait for one. */
export interface ConnectionStats {
  /** Here now, those included that are being closed for others. */
  open: number
  /** Of those, the ones on which nothing is under way: they are closed for others when there are no more to be had. */
  idle: number
  /** The option `maxConnections`. */
  max: number
  /** Of all that there were. */
  closedForOthers: number
}
