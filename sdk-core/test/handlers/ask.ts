// Asks a handler as the server would.

import type { FetchHandler, FetchInfo } from '../../src/exchange/fetch-handler.ts'

const SITE = 'https://site.example'

export const info: FetchInfo = { canonicalUrl: SITE, waitUntil: () => {} } as Partial<FetchInfo> as FetchInfo

export async function ask(handler: FetchHandler, path: string, init?: RequestInit): Promise<Response> {
  return handler(new Request(`${SITE}${path}`, init), info)
}
