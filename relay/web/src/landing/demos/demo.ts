// Types of the demo sites that the landing page can publish.
import type { FetchHandler } from '@svc/sdk-browser'

export type Kind = 'hello' | 'folder' | 'webhook'

export interface Visit {
  id: number | string
  /** Milliseconds since the epoch. */
  at: number
  method: string
  path: string
  /** The request's content, for the webhook inspector. */
  text?: string
}

export interface Demo {
  fetch: FetchHandler
}
