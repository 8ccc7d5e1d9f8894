// One attempt to publish at one relay of several: it comes online, waits, or fails, and holds up no other.

import type { Site } from '@svc/sdk-core'
import { asSvcError, type PlatformSite } from '@svc/sdk-core'

export class RelayAttempt {
  /** The relay's origin. */
  readonly relay: string
  /** Resolves when visitors can come. Rejects with an SvcError. */
  readonly online: Promise<PlatformSite>
  /** Resolves when the site is online, waits, or failed. */
  readonly decided: Promise<void>
  #site: PlatformSite | undefined

  /**
   * @param begun called with the site before it connects
   * @param publish publishes the site, and calls `onSite` with it
   */
  constructor(
    relay: string,
    begun: ((site: PlatformSite, relay: string) => void) | undefined,
    publish: (onSite: (site: Site) => void) => Promise<PlatformSite>,
  ) {
    this.relay = relay
    const decided = Promise.withResolvers<void>()
    const onSite = (site: Site): void => {
      this.#site = site as PlatformSite
      site.addEventListener('statechange', () => site.state === 'waiting' && decided.resolve())
      begun?.(this.#site, relay)
    }
    this.online = publish(onSite).catch((error) => {
      throw asSvcError(error, 'relay_unreachable', 'the site could not be published')
    })
    const settled = (): void => decided.resolve()
    this.online.then(settled, settled)
    this.decided = decided.promise
  }

  /** The site; undefined before there is one, and after its end. */
  get site(): PlatformSite | undefined {
    return this.#site?.state === 'closed' ? undefined : this.#site
  }
}
