// Resolves `agent.control_addr`, which must be a loopback address.

import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { AgentError } from './errors.ts'

export const CONTROL_ADDR_DEFAULT = '127.0.0.1:4018'

export interface ControlAddress {
  /** An IP address. */
  host: string
  /** 0 lets the system choose one. */
  port: number
}

const PORT_MAX = 65_535
const HOST_AND_PORT = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8)
LOOPBACK.addAddress('::1', 'ipv6')

/**
 * Resolves a control address. A name is accepted only if all its addresses are loopback addresses. The first of them is used;
 * the name is not resolved again.
 * @param text such as `127.0.0.1:4018`, `[::1]:4018` or `localhost:4018`
 * @throws AgentError `address_refused`
 */
export async function resolveControlAddress(text: string): Promise<ControlAddress> {
  const [, inBrackets, plain = '', digits] = HOST_AND_PORT.exec(text) ?? []
  const host = inBrackets ?? plain
  const port = Number(digits)
  if (host === '' || port > PORT_MAX || (inBrackets !== undefined && isIP(inBrackets) !== 6))
    throw refused(text, 'is not HOST:PORT, such as 127.0.0.1:4018 or [::1]:4018')
  const addresses = isIP(host) > 0 ? [host] : await addressesOf(text, host)
  const other = addresses.find((address) => !isLoopback(address))
  if (other !== undefined)
    throw refused(text, `${other === host ? 'is' : `resolves to ${other}, which is`} not a loopback address`)
  return { host: addresses[0]!, port }
}

export function isLoopback(address: string): boolean {
  return LOOPBACK.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

async function addressesOf(text: string, host: string): Promise<string[]> {
  const found = await lookup(host, { all: true, order: 'ipv4first' }).catch(() => [])
  if (found.length === 0) throw refused(text, 'has a name without an address')
  return found.map(({ address }) => address)
}

function refused(text: string, why: string): AgentError {
  return new AgentError(
    'address_refused',
    `agent.control_addr ${JSON.stringify(text)} ${why}: the agent listens on the loopback interface only`,
  )
}
