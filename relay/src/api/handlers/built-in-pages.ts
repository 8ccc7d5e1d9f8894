// What the root host serves beside the API: an operator's own files, or the pages that `npm ci` and `npm run site` build
// into this package. Where nobody has built them, they say so.

import { join, resolve } from 'node:path'
import type { Logger } from '../../log/log.ts'
import type { BodyWriter } from '../http/body-writer.ts'
import { sendText } from '../http/envelope.ts'
import { pathOf } from '../http/request.ts'
import type { Handler } from '../http/server.ts'
import { findFile } from '../http/stored-file.ts'
import { createCaFiles } from './ca-files.ts'
import { createStaticFiles, isLandingPage, protectPage } from './static-files.ts'

/** Beside the code of this package. */
const OWN_PAGES_DIR: string = resolve(import.meta.dirname, '../../../pages')
const SERVICE_UNAVAILABLE = 503
/** Where the pages are once they are built. */
const PAGE = /^\/(?:(?:sites|admin|ca|examples)\/?)?$/
const AUTHORITY_PAGE = 'ca/index.html'

interface Pages {
  /** Of an operator's own files; undefined: the relay's pages. */
  directory: string | undefined
  /** Whether the policy has `/` and `/sites` served; what else there is, such as `/admin`, is served in any case. */
  hasLandingPage: () => boolean
  /** PEM of the certificate of the development CA, where there is one. */
  authority: () => string | undefined
  writer: BodyWriter
}

export function createPages({ directory, hasLandingPage, authority, writer }: Pages): Handler {
  const isOff = (name: string): boolean => isLandingPage(name) && !hasLandingPage()
  const isOwnOff = (name: string): boolean =>
    isOff(name) || (name === AUTHORITY_PAGE && authority() === undefined)
  const site =
    directory === undefined
      ? unlessUnbuilt(createStaticFiles(OWN_PAGES_DIR, isOwnOff, writer), isOwnOff)
      : createStaticFiles(directory, isOff, writer)
  return createCaFiles(authority, writer, site)
}

function unlessUnbuilt(site: Handler, isOff: (name: string) => boolean): Handler {
  return async (request, response) => {
    const path = pathOf(request)
    const name = `${path}/index.html`.split('/').filter(Boolean).join('/')
    if (!PAGE.test(path) || isOff(name) || (await areBuilt())) return await site(request, response)
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
