// Starts the overlay that the relay makes itself: loads its key, and keeps the interface while the relay runs.

import type { Logger } from '../../../core/log/log.ts'
import { OVERLAY_PORT } from '../settings.ts'
import type { VerifiedRelays } from '../verified-relays.ts'
import { START_WAIT_MS } from './limits.ts'
import { loadLinkState } from './link-state.ts'
import { WireGuardNetwork } from './wireguard-network.ts'

export interface WireGuardOptions {
  /** State directory. */
  directory: string
  /** UDP port of WireGuard. */
  listenPort: number
  relays: VerifiedRelays
  /** True when peers at addresses that are not public are taken, as those of a test are. */
  allowsLoopback: boolean
  log: Logger
  /** Called each time the interface is lost. */
  onDown?: () => void
  /** Says which names the system's resolver resolves, with its file of hosts: those of the operator. */
  isOfSystem: (hostname: string) => boolean
}

export interface WireGuardOverlay {
  network: WireGuardNetwork
  /** TCP port of the overlay server. */
  port: number
  /** 32 bytes in base64. */
  publicKey: string
  /**
   * Makes the interface. Resolves when it is up, or could not be made: then the relay tries again and again.
   * @param listen lets peers in, which is possible only while the interface has its address; called once
   */
  start(listen: () => Promise<void>): Promise<void>
}

/** @throws SettingsError when wireguard.json cannot be used, StateFileError when it cannot be written */
export async function createWireGuard(options: WireGuardOptions): Promise<WireGuardOverlay> {
  const state = await loadLinkState(options.directory)
  let listening: Promise<void> | undefined
  let listen = (): Promise<void> => Promise.resolve()
  const network = new WireGuardNetwork({
    ...options,
    state,
    onUp: async () => {
      // A socket that listens stays, and goes on when its address comes back.
      listening ??= listen()
      await listening.catch((error) => {
        listening = undefined
        throw error
      })
    },
  })
  return {
    network,
    port: OVERLAY_PORT,
    publicKey: state.publicKey,
    start: async (listener) => {
      listen = listener
      network.start()
      const late = Promise.withResolvers<void>()
      const timer = setTimeout(late.resolve, START_WAIT_MS)
      await Promise.race([network.tried, late.promise])
      clearTimeout(timer)
    },
  }
}
