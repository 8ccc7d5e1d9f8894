// Refuses what a phone's share sheet posts while no service worker of the landing page takes it, as when its user cleared the browser's data.

import { discardBody } from '../../http/discard-body.ts'
import { pathOf } from '../http/request.ts'
import type { Handler } from '../http/server.ts'
import { protectPage } from './static-files.ts'

/** The action in the manifest of the pages, and the scope of the service worker. */
const SHARE_TARGET = '/share-target/'
/** The landing page says what happened, and is ready for the next share. */
const LANDING = '/?shared=refused'
const SEE_OTHER = 303

/** Leads to the landing page before anything of the body is read. What arrives is dropped, and the connection ends. */
export function refuseShares(next: Handler): Handler {
  return async (request, response) => {
    if (request.method !== 'POST' || pathOf(request) !== SHARE_TARGET) return await next(request, response)
    protectPage(response)
    response.shouldKeepAlive = false
    response.writeHead(SEE_OTHER, { Location: LANDING, 'Cache-Control': 'no-store', 'Content-Length': '0' })
    response.flushHeaders()
    await discardBody(request)
    response.end()
  }
}
