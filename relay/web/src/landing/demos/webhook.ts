// Receives requests of a service and shows them.
import { type Entry, inspect } from '@svc/sdk-browser/handlers'
import type { Demo, Visit } from './demo.ts'

/** Shown requests, and shown bytes of each body. */
const ENTRIES = 10
const BODY_BYTES = 4096

interface WebhookDemo extends Demo {
  /** The newest first. */
  visits(): Visit[]
  onChange(listener: () => void): void
}

export function createDemo(): WebhookDemo {
  const inspector = inspect(() => new Response('Received\n'), { limit: ENTRIES, maxBodyBytes: BODY_BYTES })
  return {
    fetch: inspector.fetch,
    visits: () => inspector.entries.map(visitOf),
    onChange: (listener) => inspector.addEventListener('change', listener),
  }
}

function visitOf({ id, at, method, url, request }: Entry): Visit {
  const { headers, body, bodyBytes } = request
  const { pathname, search } = new URL(url)
  const fields = headers.map(([name, value]) => `${name}: ${value}`).join('\n')
  const rest = bodyBytes > body.length ? '\n…' : ''
  return {
    id,
    at,
    method,
    path: pathname + search,
    text: `${fields}\n\n${new TextDecoder().decode(body)}${rest}`,
  }
}
