// The dedicated ports of a lease: at most one for each transport.

export interface LeasePorts {
  tcp?: number | undefined
  udp?: number | undefined
}

export type Transport = keyof LeasePorts

/** The dedicated ports that a registration asks for. */
export type RequestedPorts = Partial<Record<Transport, boolean | undefined>>
