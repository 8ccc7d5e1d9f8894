// Receives requests of a service and records them.
import { type Inspector, inspect } from '@svc/sdk-browser/handlers'
import type { Demo } from './demo.ts'

/** The requests that are kept, and the bytes of each body, as `svc` keeps them; of all, the usual 16 MiB. */
const ENTRIES = 1_000
const BODY_BYTES: number = 1024 * 1024

interface WebhookDemo extends Demo {
  recorder: Inspector
}

export function createDemo(): WebhookDemo {
  const recorder = inspect(() => new Response('Received\n'), { limit: ENTRIES, maxBodyBytes: BODY_BYTES })
  return { fetch: recorder.fetch, recorder }
}
