// Runs one live relay for the tests of a file, and closes each site behind the test that opened it.

import type { TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { type HandMadeSite, type LiveRelay, openLiveSite, startLiveRelay } from './live-sites.ts'

export interface UsedLiveRelay {
  /** There from the first test on. */
  readonly relay: LiveRelay
  /** Opens a site with a name of its own. */
  open(
    serve: (connection: TLSSocket) => void,
    options?: Parameters<typeof openLiveSite>[3] & { name?: string },
  ): Promise<HandMadeSite>
  /** Closes a site behind the test that runs. */
  closeLater<Site extends { close(): Promise<void> }>(site: Site): Site
}

/** A file calls it outside its tests, once for each relay. */
export function useLiveRelay(options?: Parameters<typeof startLiveRelay>[0]): UsedLiveRelay {
  let relay: LiveRelay
  let opened = 0
  const sites: { close(): Promise<void> }[] = []
  beforeAll(async () => {
    relay = await startLiveRelay(options)
  })
  afterEach(async () => {
    for (const site of sites.splice(0)) await site.close()
  })
  afterAll(() => relay.close())
  const closeLater = <Site extends { close(): Promise<void> }>(site: Site): Site => {
    sites.push(site)
    return site
  }
  return {
    get relay() {
      return relay
    },
    open: async (serve, { name = `site${++opened}`, ...more } = {}) =>
      closeLater(await openLiveSite(relay, name, serve, more)),
    closeLater,
  }
}
