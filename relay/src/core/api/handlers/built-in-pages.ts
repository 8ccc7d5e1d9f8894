// Serves the root host beside the API: the operator's files, or the built-in pages, which `npm ci` and `npm run site`
// build into this package. If they are not built, a text says so.

import { join } from 'node:path'
import { installation } from '../../installation.ts'
import type { Logger } from '../../log/log.ts'
import type { BodyWriter } from '../http/body-writer.ts'
import { sendText } from '../http/envelope.ts'
import { pathOf } from '../http/request.ts'
import type { Handler } from '../http/server.ts'
import { findFile } from '../http/stored-file.ts'
import { createCaFiles } from './ca-files.ts'
import { createDocumentation } from './documentation.ts'
import { createSdkModules } from './sdk-files.ts'
import { refuseShares } from './share-target.ts'
import { createStaticFiles, isLandingPage, protectPage } from './static-files.ts'

const SERVICE_UNAVAILABLE = 503
/** Paths of the built-in pages. */
const PAGE = /^\/(?:(?:sites|relays|admin(?:\/[a-z]+)?|ca|examples)\/?)?$/
const AUTHORITY_PAGE = 'ca/index.html'
const RELAYS_PAGE = 'relays/index.html'
/** What `npm start` serves beside the relay, by plain HTTP. */
const START_PAGE = 'start.html'

interface Pages {
  /** Directory of the operator's files; undefined: the built-in pages. */
  directory: string | undefined
  /** Whether the policy allows `/` and `/sites`. Other pages, such as `/admin`, are always served. */
  hasLandingPage: () => boolean
  /** True when the relay answers `GET /discovery`, of which `/relays` is a view. */
  hasDiscovery: boolean
  /** PEM of the development CA's certificate; undefined without one. */
  authority: () => string | undefined
  writer: BodyWriter
  /** Origin of the relay's URL. */
  origin: string
}

export function createPages({
  directory,
  hasLandingPage,
  hasDiscovery,
  authority,
  writer,
  origin,
}: Pages): Handler {
  const isOff = (name: string): boolean => isLandingPage(name) && !hasLandingPage()
  const isBuiltInOff = (name: string): boolean =>
    isOff(name) ||
    name === START_PAGE ||
    (name === AUTHORITY_PAGE && authority() === undefined) ||
    (name === RELAYS_PAGE && !hasDiscovery)
  const site =
    directory === undefined
      ? refuseShares(
          unlessUnbuilt(
            createStaticFiles(installation().pages(), isBuiltInOff, writer, { origin }),
            isBuiltInOff,
          ),
        )
      : createStaticFiles(directory, isOff, writer)
  const documentation = createDocumentation(directory, writer, origin, site)
  return createSdkModules(writer, createCaFiles(authority, writer, documentation))
}

function unlessUnbuilt(site: Handler, isOff: (name: string) => boolean): Handler {
  return async (request, response) => {
    const path = pathOf(request)
    const name = `${path}/index.html`.split('/').filter(Boolean).join('/')
    if (!PAGE.test(path) || isOff(name) || (await arePagesBuilt())) return await site(request, response)
    protectPage(response)
    sendText(
      response,
      SERVICE_UNAVAILABLE,
      "This relay's pages are not built. Its operator can build them with `npm run site`; the API works without them.\n",
      { 'Cache-Control': 'no-store' },
    )
  }
}

/** Warns the operator at the start when the built-in pages are missing. */
export async function warnUnlessBuilt(log: Logger): Promise<void> {
  if (await arePagesBuilt()) return
  log.warn(
    { directory: installation().pages() },
    "the relay's pages are not built, so that it serves only its API: `npm run site` builds them",
  )
}

/** Whether the built-in pages are there. */
export async function arePagesBuilt(): Promise<boolean> {
  return (await findFile(join(installation().pages(), 'index.html'))) !== undefined
}
