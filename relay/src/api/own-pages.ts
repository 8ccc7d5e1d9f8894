// The relay's own pages, as `npm ci` and `npm run site` build them into this package; where nobody has, they say so.

import { join, resolve } from 'node:path'
import type { Logger } from '../log.ts'
import type { BodyWriter } from './body-writer.ts'
import { sendText } from './envelope.ts'
import { pathOf } from './request.ts'
import type { Handler } from './server.ts'
import { createSite, protectPage } from './site.ts'
import { findFile } from './stored-file.ts'

/** Beside the code of this package. */
const OWN_PAGES_DIR: string = resolve(import.meta.dirname, '../../pages')
const SERVICE_UNAVAILABLE = 503
/** Where the pages are once they are built … */
const PAGE = /^\/(?:sites\/?|admin\/?|examples\/?)?$/
/** … and which of them the policy may turn off. */
const LANDING_PAGE = /^\/(?:sites\/?)?$/

/** @param hasLandingPage as of {@link createSite} */
export function createOwnPages(hasLandingPage: () => boolean, writer: BodyWriter): Handler {
  const site = createSite(OWN_PAGES_DIR, hasLandingPage, writer)
  return async (request, response) => {
    const path = pathOf(request)
    const isWanted = PAGE.test(path) && (hasLandingPage() || !LANDING_PAGE.test(path))
    if (!isWanted || (await areBuilt())) return await site(request, response)
    protectPage(response)
    sendText(
      response,
      SERVICE_UNAVAILABLE,
      "This relay's pages are not built. Whoever runs the relay builds them with `npm run site`; its API works without.\n",
      { 'Cache-Control': 'no-store' },
    )
  }
}

/** At the start: who runs a relay shall not have to look at it with a browser to learn that its pages are missing. */
export async function warnUnlessBuilt(log: Logger): Promise<void> {
  if (await areBuilt()) return
  log.warn(
    { directory: OWN_PAGES_DIR },
    "the relay's pages are not built, so that only its API is there: `npm run site` builds them",
  )
}

async function areBuilt(): Promise<boolean> {
  return (await findFile(join(OWN_PAGES_DIR, 'index.html'))) !== undefined
}
