// Types of the demo sites that the landing page can publish.
import type { FetchHandler } from '@svc/sdk-browser'

export type Kind = 'note' | 'folder' | 'webhook'

export interface Visit {
  id: number
  /** Milliseconds since the epoch. */
  at: number
  method: string
  path: string
}

export interface Demo {
  fetch: FetchHandler
}
