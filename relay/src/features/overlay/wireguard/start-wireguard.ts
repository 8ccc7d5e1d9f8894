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
  /** True when peers at addresses that are not public are accepted, as in tests. */
  allowsLoopback: boolean
  log: Logger
  /** Called each time the interface is lost. */
  onDown?: () => void
  /** Returns whether the system's resolver, with its hosts file, resolves a name: those of the operator. */
  isOfSystem: (hostname: string) => boolean
}

export interface WireGuardOverlay {
  network: WireGuardNetwork
  /** TCP port of the overlay server. */
  port: number
  /** 32 bytes in base64. */
  publicKey: string
  /**
   * Makes the interface. Resolves when it is up, or could not be made; the relay then keeps trying.
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
      // A listening socket stays, and works again when its address comes back.
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
