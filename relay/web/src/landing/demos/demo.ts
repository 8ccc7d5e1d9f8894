// Types of the demo sites that the landing page can publish.
import type { FetchHandler } from '@svc/sdk-browser'
import type { VNode } from '../../preact.ts'

export type Kind = 'note' | 'folder' | 'webhook' | 'chat' | 'tools'

export interface Visit {
  id: number
  /** Milliseconds since the epoch. */
  at: number
  method: string
  path: string
}

export interface Demo {
  fetch: FetchHandler
  /** What its owner sees below the diagram. */
  View?(): VNode
  /** Of a webhook inspector: drops what was recorded. */
  clear?(): void
  /** Of a note: later visitors see this text. */
  write?(text: string): void
  /** Forgets what was kept for a reload: the site was stopped. */
  forget?(): void
}
