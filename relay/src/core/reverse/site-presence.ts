// Detects a site that left without unregistering: its side closed its last connection, and opened no other one since.

import type { Duplex } from 'node:stream'

/**
 * When the site's side closed its last connection this long ago, no visitor waits for it. An SDK whose connections broke is
 * back after a second at most, and has one more to connect.
 */
export const SITE_AWAY_AFTER_MS = 2_000

/**
 * State of the site's connections in a process.
 * - `open`: there is at least one
 * - `cut`: the site's side closed the last one
 * - `none`: there was none, or the relay closed the last one and knows nothing of the site
 */
export type SiteConnection = 'open' | 'cut' | 'none'

export class SitePresence {
  /** Connections of this process, and processes that have some. */
  readonly #open = new Set<object>()
  readonly #onAway: () => void
  #connection: SiteConnection = 'none'
  #timeout: NodeJS.Timeout | undefined
  #isAway = false

  /** @param onAway called when the site has been away for {@link SITE_AWAY_AFTER_MS} */
  constructor(onAway: () => void) {
    this.#onAway = onAway
  }

  get connection(): SiteConnection {
    return this.#connection
  }

  /** Whether the site has been away too long for visitors to wait for it. */
  get isAway(): boolean {
    return this.#isAway
  }

  /** @param source a connection, or a process that has some of the site */
  set(source: object, connection: SiteConnection): void {
    if (connection === 'open') {
      this.#open.add(source)
      this.#change('open')
    } else if (this.#open.delete(source) && this.#open.size === 0) this.#change(connection)
  }

  /** Ends the wait for the site. */
  close(): void {
    clearTimeout(this.#timeout)
  }

  #change(connection: SiteConnection): void {
    this.#connection = connection
    this.#isAway = false
    clearTimeout(this.#timeout)
    if (connection !== 'cut') return
    this.#timeout = setTimeout(() => {
      this.#isAway = true
      this.#onAway()
    }, SITE_AWAY_AFTER_MS).unref()
  }
}

/** Calls `closed` when the connection is closed: `cut` when the other side closed it first, by FIN or RST. */
export function onceClosed(socket: Duplex, closed: (how: 'cut' | 'none') => void): void {
  let hasEnded = false
  // Runs before Node's own listener, which ends this side in response.
  socket.prependListener('end', () => {
    hasEnded = !socket.writableEnded
  })
  socket.once('close', () => {
    const { code } = (socket.errored ?? {}) as NodeJS.ErrnoException
    closed(hasEnded || code === 'ECONNRESET' || code === 'EPIPE' ? 'cut' : 'none')
  })
}
