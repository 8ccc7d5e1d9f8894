// Reads the file of OVERLAY_CONFIG: the overlay's own address and port, the network it is on, and where its peers are.

import { open } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { withoutByteOrderMark } from '@svc/protocol'
import { normalizeIp } from '../../core/client-address/ip-address.ts'
import { NetworkSet, normalizeNetwork } from '../../core/client-address/ip-networks.ts'
import { SettingsError } from '../../core/config/settings-error.ts'

/** Peers of one relay. */
export const OVERLAY_PEERS_MAX = 256
/** Bytes of the file: 256 peers take 32 KiB. */
export const OVERLAY_CONFIG_MAX_BYTES: number = 256 * 1024
/** The value of `network` for the overlay that the relay makes itself, with WIREGUARD_PORT. */
const WIREGUARD = 'wireguard'
const FIELDS = ['network', 'address', 'port', 'peers']
const UNSPECIFIED = ['0.0.0.0', '::']
const PORT_MAX = 65_535

/** The address at which the overlay server of a relay listens. */
export interface OverlayEndpoint {
  /** Normalized IP address. */
  address: string
  port: number
}

/** An IP network that the operator provides. */
export interface GivenOverlay extends OverlayEndpoint {
  kind: 'given'
  /** As `normalizeNetwork` returns it. */
  network: string
  /** By the origin of each peer's URL. */
  peers: ReadonlyMap<string, OverlayEndpoint>
}

export type OverlayConfig = GivenOverlay | { kind: 'wireguard' }

/** @throws SettingsError that says what is wrong with the file */
export async function readOverlayConfig(path: string): Promise<OverlayConfig> {
  return parseOverlayConfig(await readText(path))
}

/** @param text JSON. @throws SettingsError */
export function parseOverlayConfig(text: string): OverlayConfig {
  const fields = objectIn(text)
  const unknown = Object.keys(fields).find((name) => !FIELDS.includes(name))
  if (unknown !== undefined) throw invalid(`"${unknown}" is not one of ${FIELDS.join(', ')}`)
  if (fields.network === WIREGUARD) {
    const more = Object.keys(fields).find((name) => name !== 'network')
    if (more !== undefined) throw invalid(`"${more}" is not for the network "${WIREGUARD}", which knows it`)
    return { kind: 'wireguard' }
  }
  const network = networkOf(fields.network)
  const members = new NetworkSet([network])
  const own = { address: addressIn(members, fields.address, 'address'), port: portOf(fields.port, 'port') }
  return { kind: 'given', network, ...own, peers: peersOf(fields.peers, members, own) }
}

async function readText(path: string): Promise<string> {
  try {
    await using file = await open(path)
    const { size } = await file.stat()
    if (size > OVERLAY_CONFIG_MAX_BYTES)
      throw invalid(`the file has more than ${OVERLAY_CONFIG_MAX_BYTES} bytes`)
    return withoutByteOrderMark(await file.readFile('utf8'))
  } catch (error) {
    throw error instanceof SettingsError ? error : invalid((error as Error).message)
  }
}

function objectIn(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalid('the file is not JSON')
  }
  if (!isObject(value)) throw invalid('the file is not a JSON object')
  return value
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function networkOf(value: unknown): string {
  const network = typeof value === 'string' && value.includes('/') ? normalizeNetwork(value) : undefined
  if (network === undefined)
    throw invalid(`"network" needs a network such as 10.90.0.0/24, or "${WIREGUARD}"`)
  return network
}

function addressIn(network: NetworkSet, value: unknown, name: string): string {
  const address = typeof value === 'string' && !value.includes('%') ? normalizeIp(value) : undefined
  if (address === undefined) throw invalid(`"${name}" needs an IP address`)
  if (UNSPECIFIED.includes(address)) throw invalid(`"${name}" needs one address, not every one`)
  if (!network.has(address)) throw invalid(`"${name}": ${address} is not in the network`)
  return address
}

function portOf(value: unknown, name: string): number {
  if (!Number.isInteger(value) || (value as number) < 1 || (value as number) > PORT_MAX)
    throw invalid(`"${name}" needs a port from 1 to ${PORT_MAX}`)
  return value as number
}

function peersOf(
  value: unknown,
  network: NetworkSet,
  own: OverlayEndpoint,
): ReadonlyMap<string, OverlayEndpoint> {
  if (!isObject(value))
    throw invalid('"peers" needs an object: the URL of each relay, and its address on the overlay')
  const entries = Object.entries(value)
  if (entries.length > OVERLAY_PEERS_MAX) throw invalid(`"peers" has more than ${OVERLAY_PEERS_MAX} relays`)
  const peers = new Map<string, OverlayEndpoint>()
  const taken = new Set([own.address])
  for (const [url, at] of entries) {
    const origin = originOf(url)
    const peer = peerOf(at, url, network, own.port)
    if (peers.has(origin)) throw invalid(`"peers" names ${origin} twice`)
    if (taken.has(peer.address)) throw invalid(`"peers": ${peer.address} belongs to two relays`)
    peers.set(origin, peer)
    taken.add(peer.address)
  }
  return peers
}

function originOf(text: string): string {
  const url = URL.parse(text)
  if (url?.protocol !== 'https:' || url.pathname !== '/' || `${url.search}${url.hash}${url.username}` !== '')
    throw invalid(`"peers": "${text}" is not a URL such as https://relay.example.com`)
  return url.origin
}

/** IP, IP:PORT or [IPV6]:PORT. @param port default port of peers: this relay's own */
function peerOf(value: unknown, url: string, network: NetworkSet, port: number): OverlayEndpoint {
  const name = `peers: ${url}`
  if (typeof value !== 'string') throw invalid(`"${name}" needs an IP address`)
  if (isIPv6(value)) return { address: addressIn(network, value, name), port }
  const [, ipv6, ipv4, digits] = /^(?:\[([^[\]]*)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(value) ?? []
  return {
    address: addressIn(network, ipv6 ?? ipv4, name),
    port: digits === undefined ? port : portOf(Number(digits), name),
  }
}

function invalid(problem: string): SettingsError {
  return new SettingsError('OVERLAY_CONFIG', problem)
}
