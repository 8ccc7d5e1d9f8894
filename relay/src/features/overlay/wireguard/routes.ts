// Routes of the overlay: to its peers through the relay's interface, and unreachable while that is gone.

import { runCommand } from './command.ts'
import { OVERLAY_NETWORK } from './overlay-address.ts'

/** Metric of the route through the interface: Linux's own for IPv6. */
const METRIC = 1024
/** Metric of the unreachable route: it applies only while there is no other route to the network. */
const UNREACHABLE_METRIC = 2_000_000_000

interface RouteParts {
  interfaceName: string
  /** The relay's address on the overlay. */
  address: string
}

/** A route as `ip -json` describes it; `type` is absent for a route that forwards packets. */
interface Route {
  type?: string
  dst: string
  dev?: string
  prefsrc?: string
}

/**
 * Keeps packets for the overlay on this machine while the interface is gone: its route disappears with it, and open
 * connections would resend over the default route, in plaintext.
 * @throws Error when the system refuses
 */
export async function closeOverlayRoute(): Promise<void> {
  await ipv6('route', 'replace', 'unreachable', OVERLAY_NETWORK, 'metric', `${UNREACHABLE_METRIC}`)
}

/** Never rejects. */
export async function removeOverlayRoute(): Promise<void> {
  const route = ['unreachable', OVERLAY_NETWORK, 'metric', `${UNREACHABLE_METRIC}`]
  await ipv6('route', 'delete', ...route).catch(() => {})
}

/**
 * Routes the overlay through the interface.
 * @throws Error when the system refuses, or another interface has the route
 */
export async function openOverlayRoute({ interfaceName, address }: RouteParts): Promise<void> {
  const device = ['dev', interfaceName, 'src', address]
  // `add` never replaces the route of another relay on this machine.
  await ipv6('route', 'add', OVERLAY_NETWORK, ...device, 'metric', `${METRIC}`).catch(async (error) => {
    const owner = (await overlayRoutes()).find((route) => isToPeers(route))?.dev
    throw owner === undefined || owner === interfaceName
      ? error
      : new Error(`the interface ${owner} has the route to ${OVERLAY_NETWORK}: one relay of a machine links`)
  })
}

/** Returns those of the relay's routes that are there. @throws Error when the system refuses */
export async function readRoutes(parts: RouteParts): Promise<{
  hasAddress: boolean
  isOpen: boolean
  isClosed: boolean
}> {
  const routes = await overlayRoutes()
  return {
    hasAddress: routes.some(
      ({ type, dst, dev }) => type === 'local' && dst === parts.address && dev === parts.interfaceName,
    ),
    isOpen: routes.some((route) => isToPeers(route) && route.dev === parts.interfaceName),
    isClosed: routes.some(({ type, dst }) => type === 'unreachable' && dst === OVERLAY_NETWORK),
  }
}

const isToPeers = ({ type, dst }: Route): boolean =>
  dst === OVERLAY_NETWORK && (type === undefined || type === 'unicast')

/** The routes in every table. */
async function overlayRoutes(): Promise<Route[]> {
  const text = await runCommand('ip', [
    '-6',
    '-json',
    'route',
    'show',
    'table',
    'all',
    'root',
    OVERLAY_NETWORK,
  ])
  return JSON.parse(text.trim() || '[]')
}

async function ipv6(...args: string[]): Promise<void> {
  await runCommand('ip', ['-6', ...args])
}
