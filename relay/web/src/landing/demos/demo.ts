// Types of the demo sites that the landing page can publish.
import type { FetchHandler } from '@svc/sdk-browser'
import type { Inspector } from '@svc/sdk-browser/handlers'

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
  recorder?: Inspector
  /** Of a note: later visitors see this text. */
  write?(text: string): void
  /** Forgets what was kept for a reload: the site was stopped. */
  forget?(): void
}
