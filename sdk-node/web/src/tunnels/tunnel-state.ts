// The state of a tunnel at all its relays, and messages about what keeps visitors away.

import { formatAgo } from '@svc/relay-web/common/format.ts'
import { RELAY_GONE, waitingText } from '@svc/relay-web/texts/site-states.ts'
import type { RelayStatus, TunnelStatus } from '../../../src/agent/api-messages.ts'
import { STATE } from '../texts/texts.ts'

interface ShownState {
  text: string
  /** The style, as in the relay's pages. */
  kind: 'online' | 'wrong' | 'quiet'
}

export function isOnline({ relays }: TunnelStatus): boolean {
  return relays.some(({ state }) => state === 'online')
}

export function stateOf(tunnel: TunnelStatus): ShownState {
  const { state, relays, failure, retry_at } = tunnel
  if (state === 'paused' || state === 'ending') return { text: STATE[state], kind: 'quiet' }
  if (state === 'ended')
    return failure === undefined
      ? { text: STATE.ended, kind: 'quiet' }
      : { text: retry_at === undefined ? STATE.failed : STATE.retrying, kind: 'wrong' }
  if (isOnline(tunnel)) return { text: STATE.online, kind: 'online' }
  const [first] = relays.filter((relay) => relay.state !== 'closed')
  return { text: STATE[first?.state ?? 'connecting'], kind: first?.state === 'failed' ? 'wrong' : 'quiet' }
}

/** @returns why visitors cannot connect at this relay; undefined if they can */
export function obstacleOf({ state, waiting, failure }: RelayStatus): string | undefined {
  if (failure !== undefined) return failure.message
  if (state === 'waiting' && waiting !== undefined)
    return waitingText(waiting.reason, waiting.until && formatAgo(waiting.until))
  if (state === 'reconnecting') return RELAY_GONE
  return undefined
}
