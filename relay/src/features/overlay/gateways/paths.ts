// Paths of the overlay server that gateways and ingress relays use among themselves.

/** `GET`: whether the peer is a gateway with room. */
export const GATEWAY_PATH = '/overlay/gateway'
/** An upgrade: a reverse session that a gateway carries here. */
export const CARRIED_PATH = '/overlay/reverse'
