// Hands the SDK to the specs, whose handlers are evaluated in this page.
import { publish } from '@svc/sdk-browser'
import { walletOnly } from '@svc/sdk-browser/handlers'
import { Hono } from 'hono'
import { cache } from 'hono/cache'

declare global {
  var svc: {
    publish: typeof publish
    sha256: typeof sha256
    walletOnly: typeof walletOnly
    Hono: typeof Hono
    cache: typeof cache
  }
}

globalThis.svc = { publish, sha256, walletOnly, Hono, cache }

async function sha256(bytes: BufferSource): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
