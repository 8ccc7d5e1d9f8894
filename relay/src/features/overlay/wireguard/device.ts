// Configures one WireGuard interface, and reads its state.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { hostPort } from '@svc/node-kit/host-port'
import { OVERLAY_PORT } from '../settings.ts'
import { runCommand } from './command.ts'
import { closeInterface, hasFirewall, isClosedAs } from './firewall.ts'
import type { FirewallParts } from './firewall-parts.ts'
import { KEEPALIVE_S, MTU_BYTES } from './limits.ts'
import type { LinkState } from './link-state.ts'
import { hasRoutingRules, routeToServer } from './policy-routing.ts'
import { closeOverlayRoute, openOverlayRoute, readRoutes } from './routes.ts'

/** One peer as WireGuard needs it. */
export interface DevicePeer {
  /** 32 bytes in base64. */
  publicKey: string
  /** Address on the overlay: the only one from which its packets may come. */
  overlayAddress: string
  /** IP address; undefined: the peer has to connect first. */
  host: string | undefined
  /** UDP port. */
  port: number
}

/** The state of one peer, as WireGuard reports it. */
export interface PeerReading {
  publicKey: string
  /**
   * IP address from which its last authenticated packet came, or otherwise the configured one; undefined without
   * either.
   */
  host: string | undefined
  port: number
  /** By the wall clock, milliseconds since the epoch; undefined without a handshake. */
  handshakeAt: number | undefined
  receivedBytes: number
  sentBytes: number
}

export interface DeviceParts extends LinkState {
  /** The relay's own address on the overlay. */
  address: string
  /** UDP port of WireGuard. */
  listenPort: number
}

/** The rules of nftables that close the interface; undefined when routing rules replace them as far as possible. */
export type DeviceRules = string | undefined

/**
 * Gives a new interface its key, address and rules, and brings it up.
 * @throws Error when the system refuses
 */
export async function setUpDevice(parts: DeviceParts): Promise<DeviceRules> {
  const { interfaceName: name, address } = parts
  await requireFreePort(parts.listenPort)
  await setPeers(parts, [])
  // The rules are in force before the first packet can come.
  const door = doorOf(parts)
  const rules = (await hasFirewall()) ? await closeInterface(door) : undefined
  const device = ['dev', name]
  await runCommand('ip', ['-6', 'address', 'replace', `${address}/128`, ...device, 'nodad'])
  await runCommand('ip', ['link', 'set', ...device, 'mtu', `${MTU_BYTES}`, 'up'])
  await openOverlayRoute(parts)
  // There are no peers yet.
  if (rules === undefined) await routeToServer(door)
  return rules
}

/**
 * Restores what another program removed from the interface, as a reload of the machine's own rules does.
 * @param rules as {@link setUpDevice} set them
 * @returns the rules in force now, and what was restored, for the log
 * @throws Error when the system refuses: then the interface must not stay
 */
export async function mendDevice(
  parts: DeviceParts,
  rules: DeviceRules,
): Promise<{ rules: DeviceRules; mended: string[] }> {
  const { interfaceName, address } = parts
  const door = doorOf(parts)
  const mended: string[] = []
  let now = rules
  const isClosed =
    rules === undefined ? await hasRoutingRules(interfaceName) : await isClosedAs(rules, interfaceName)
  const { hasAddress, ...route } = await readRoutes(parts)
  if (!hasAddress) throw new Error(`${address} was taken from the interface`)
  if (!isClosed) {
    if (rules === undefined) throw new Error('the routing rules that close the interface are gone')
    // Another release of nft may print the same rules differently.
    now = await closeInterface(door)
    mended.push('the rules that close the interface')
  }
  if (!route.isClosed) {
    await closeOverlayRoute()
    mended.push('the route that keeps packets for the overlay on this machine')
  }
  if (!route.isOpen) {
    await openOverlayRoute(parts)
    mended.push('the route to peers')
  }
  return { rules: now, mended }
}

const doorOf = ({ interfaceName, address }: DeviceParts): FirewallParts => ({
  interfaceName,
  address,
  port: OVERLAY_PORT,
})

/** A WireGuard process reports nothing when its port is taken. @throws Error when another program has it */
async function requireFreePort(port: number): Promise<void> {
  const socket = createSocket({ type: 'udp6' })
  try {
    socket.bind({ port, exclusive: true })
    await once(socket, 'listening')
  } catch (error) {
    throw new Error(`UDP port ${port} cannot be used: ${(error as Error).message}`)
  } finally {
    socket.close()
  }
}

/** Replaces the peers. Sessions with those that stay continue. @throws Error when the system refuses */
export async function setPeers(parts: DeviceParts, peers: Iterable<DevicePeer>): Promise<void> {
  // Standard input of a Node child is a socket, which `wg` cannot open by name; it can open a shell's pipe.
  const script = 'cat | wg syncconf "$0" /dev/stdin'
  await runCommand('sh', ['-c', script, parts.interfaceName], configurationOf(parts, peers))
}

/** @throws Error when there is no such interface, or its driver does not answer */
export async function readDevice(interfaceName: string): Promise<PeerReading[]> {
  const dump = await runCommand('wg', ['show', interfaceName, 'dump'])
  // Skip the first line, which has the private key.
  return dump.trimEnd().split('\n').slice(1).map(readingOf)
}

function configurationOf({ privateKey, listenPort }: DeviceParts, peers: Iterable<DevicePeer>): string {
  const lines = ['[Interface]', `PrivateKey = ${privateKey}`, `ListenPort = ${listenPort}`]
  for (const { publicKey, overlayAddress, host, port } of peers) {
    lines.push('[Peer]', `PublicKey = ${publicKey}`, `AllowedIPs = ${overlayAddress}/128`)
    // A keepalive makes WireGuard begin a session, which needs an endpoint.
    if (host === undefined) continue
    lines.push(`Endpoint = ${hostPort(host, port)}`)
    lines.push(`PersistentKeepalive = ${KEEPALIVE_S}`)
  }
  return `${lines.join('\n')}\n`
}

/** Columns: public key, preshared key, endpoint, allowed IPs, latest handshake, received, sent, keepalive. */
function readingOf(line: string): PeerReading {
  const [publicKey = '', , endpoint = '', , handshake = '0', received = '0', sent = '0'] = line.split('\t')
  const colon = endpoint.lastIndexOf(':')
  const host = colon < 0 ? undefined : endpoint.slice(0, colon).replace(/^\[|\]$/g, '')
  return {
    publicKey,
    host,
    port: Number(endpoint.slice(colon + 1)),
    handshakeAt: handshake === '0' ? undefined : Number(handshake) * 1000,
    receivedBytes: Number(received),
    sentBytes: Number(sent),
  }
}
