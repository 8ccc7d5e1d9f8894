// What pages and worker say to each other.
import type { SiteState, Waiting } from '@svc/sdk-browser'

/** From the worker to all pages: the name of a BroadcastChannel. */
export const CHANNEL = 'svc-notice-board'
export const NOTICE_MAX_CHARS = 2000

/** From a page to the worker. */
export type Command =
  /** Said again and again: a worker that hears nothing is ended by the browser. */
  | { type: 'here'; name: string; identity: string }
  | { type: 'publish'; name: string; identity: string }
  | { type: 'stop' }
  | { type: 'write'; notice: string }

interface Visit {
  /** Milliseconds since 1970. */
  at: number
  request: string
}

export interface BoardState {
  site: SiteState
  url: string
  /** Why visitors cannot come, and until when. */
  waiting?: Waiting | undefined
  error: string
  notice: string
  /** The newest first; the oldest are forgotten. */
  visits: readonly Visit[]
  visitCount: number
  worker: 'service worker' | 'shared worker'
  /** When this worker was started, in milliseconds since 1970. */
  startedAt: number
}
