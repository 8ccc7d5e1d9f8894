// The address of this machine in its network, and the name that the relay has there.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'

/** For documentation (RFC 5737): a way there goes through the default route, and nothing is sent. */
const SOMEWHERE = '192.0.2.1'
const LABEL_MAX = 63

export interface LanAddress {
  address: string
  /** Bits of the network's prefix. */
  prefix: number
}

/**
 * @param wanted one of this machine's; undefined: that of the default route, or the only one
 * @throws Error when this machine does not have the wanted address, or has no address in a network
 */
export async function lanAddress(wanted?: string): Promise<LanAddress> {
  const known = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ address }) => isIPv4(address))
  const own = wanted ?? (await addressOfDefaultRoute())
  const found =
    known.find(({ address, internal }) => address === own && (wanted !== undefined || !internal)) ??
    (wanted === undefined ? known.find(({ internal }) => !internal) : undefined)
  if (found === undefined)
    throw new Error(
      wanted === undefined
        ? 'this machine is in no network with IPv4'
        : `${wanted} is no IPv4 address of this machine: it has ${known.map(({ address }) => address).join(', ')}`,
    )
  return { address: found.address, prefix: Number(found.cidr?.split('/')[1] ?? 32) }
}

async function addressOfDefaultRoute(): Promise<string | undefined> {
  const socket = createSocket('udp4')
  try {
    socket.connect(1, SOMEWHERE)
    await once(socket, 'connect')
    return socket.address().address
  } catch {
    return undefined
  } finally {
    socket.close()
  }
}

/** @returns a name of its own for each machine, such as `svc-laptop.local`; that of the machine itself belongs to its system */
export function lanHost(machine: string = hostname()): string {
  const words = machine
    .split('.')[0]!
    .toLowerCase()
    .split(/[^a-z\d]+/)
  const label = ['svc', ...words.filter(Boolean)].join('-').slice(0, LABEL_MAX)
  return `${label.replace(/-$/, '')}.local`
}
