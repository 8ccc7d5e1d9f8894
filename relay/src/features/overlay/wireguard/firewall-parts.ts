// The parts of the overlay that firewall rules and routes use.

export interface FirewallParts {
  /** Also the name of the table. */
  interfaceName: string
  /** The relay's address on the overlay. */
  address: string
  /** TCP port of the overlay server, here and at the peers. */
  port: number
}
