// What the landing page can publish, and what it shows of it.
import type { FetchHandler } from '@svc/sdk-browser'

export type Kind = 'hello' | 'folder' | 'webhook'

export interface Visit {
  id: number
  /** Milliseconds since the epoch. */
  at: number
  method: string
  path: string
  /** What was sent, when that is what the visit is about. */
  text?: string
}

export interface Demo {
  fetch: FetchHandler
}
