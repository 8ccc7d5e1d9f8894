// The messages between pages and worker.
import type { SiteState, Waiting } from '@svc/sdk-browser'

/** The name of the BroadcastChannel from the worker to all pages. */
export const CHANNEL = 'svc-notice-board'
export const NOTICE_MAX_CHARS = 2000

/** Messages from a page to the worker. */
export type Command =
  /** Sent again and again: the browser ends a worker that gets no message. */
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
  /** The reason for which visitors cannot come, and the time of the next attempt. */
  waiting?: Waiting | undefined
  error: string
  notice: string
  /** The newest first; the oldest are forgotten. */
  visits: readonly Visit[]
  visitCount: number
  worker: 'service worker' | 'shared worker'
  /** The start of this worker, in milliseconds since 1970. */
  startedAt: number
}
