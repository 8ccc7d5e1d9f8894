// Checks the dedicated ports of sites, and the UDP port of their datagram tunnels. No result prevents a start.

import { readQuicCertificate } from '../../core/certificates/quic-certificate.ts'
import { tcpProblem, udpProblem } from '../../core/check/bind.ts'
import { type CheckOptions, type Found, off, ok, warning } from '../../core/check/finding.ts'
import type { Settings } from '../../core/config/settings.ts'
import { readPolicyOf } from '../../core/policy/policy.ts'
import { sharedCookies, sharesCookies } from './port-host.ts'

/** Most ports that a message lists. */
const LISTED_MAX = 5

export async function checkTcpPorts(settings: Settings): Promise<Found[]> {
  const isOpen = (await readPolicyOf(settings.identityPath))?.tcp_port_enabled ?? settings.portGates.tcp
  if (settings.portRange === undefined || !settings.portGates.tcp)
    return [off('Sites get TCP ports with TCP_ENABLED, MIN_PORT and MAX_PORT.'), ...halfSet(settings, 'tcp')]
  return await checkRange(settings, 'TCP', isOpen, (port) =>
    tcpProblem({ port, host: settings.listenAddress }),
  )
}

export async function checkUdpPorts(settings: Settings, options: CheckOptions): Promise<Found[]> {
  const isOpen = (await readPolicyOf(settings.identityPath))?.udp_enabled ?? settings.portGates.udp
  if (settings.portRange === undefined || !settings.portGates.udp)
    return [off('Sites get UDP ports with UDP_ENABLED, MIN_PORT and MAX_PORT.'), ...halfSet(settings, 'udp')]
  return [
    ...(await checkRange(settings, 'UDP', isOpen, (port) => udpProblem(port, settings.listenAddress))),
    await checkTunnels(settings, options),
    ...(await checkTunnelCertificate(settings)),
  ]
}

function halfSet({ portRange, portGates }: Settings, transport: 'tcp' | 'udp'): Found[] {
  const name = transport === 'tcp' ? 'TCP_ENABLED' : 'UDP_ENABLED'
  return portGates[transport] && portRange === undefined
    ? [warning(`${name} does nothing without MIN_PORT and MAX_PORT.`)]
    : []
}

async function checkRange(
  settings: Settings,
  transport: string,
  isOpen: boolean,
  problemOf: (port: number) => Promise<Error | undefined>,
): Promise<Found[]> {
  const { min, max } = settings.portRange!
  const count = max - min + 1
  const range = `${transport} ports ${min} to ${max}`
  const names = nameWarnings(settings)
  if (!isOpen) return [off(`policy.json gives no ${range}: an administrator can open them.`)]
  const taken: number[] = []
  for (let port = min; port <= max; port++) if (await problemOf(port)) taken.push(port)
  if (taken.length === 0) return [ok(`Sites get the ${count} ${range}.`), ...names]
  const listed = taken.slice(0, LISTED_MAX).join(', ')
  const rest = taken.length > LISTED_MAX ? ' and others' : ''
  return [
    warning(`${taken.length} of the ${count} ${range} cannot be bound now: ${listed}${rest}.`),
    ...names,
  ]
}

/** Warns of a port host that shares cookies with the relay. If no address is found, the relay logs that at start. */
function nameWarnings({ portHost, rootHost }: Settings): Found[] {
  return portHost !== undefined && sharesCookies(portHost, rootHost)
    ? [warning(`${capitalized(sharedCookies(portHost))}.`)]
    : []
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

async function checkTunnels(
  { sniPort, listenAddress }: Settings,
  { isRestart }: CheckOptions,
): Promise<Found> {
  const problem = await udpProblem(sniPort, listenAddress)
  if (problem === undefined || (isRestart && problem.code === 'EADDRINUSE'))
    return ok(`Datagram tunnels come in at UDP port ${sniPort}.`)
  return warning(`No datagram tunnel can come in at UDP port ${sniPort}: ${problem.message}.`)
}

async function checkTunnelCertificate(settings: Settings): Promise<Found[]> {
  try {
    const own = await readQuicCertificate(settings)
    return own === undefined
      ? []
      : [ok('Datagram tunnels have a certificate of their own, quic-fullchain.pem.')]
  } catch (cause) {
    return [warning(`Datagram tunnels stay down: ${(cause as Error).message}.`)]
  }
}
