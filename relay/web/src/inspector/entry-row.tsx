// One line of the list.

import { formatBytes, formatClock } from '../common/format.ts'
import type { VNode } from '../preact.ts'
import { LIST, ms } from './texts.ts'
import type { EntrySummary } from './types.ts'

/** The lowest status that is an error (RFC 9110 §15.5). */
const ERROR_STATUS = 400

interface EntryRowProps {
  entry: EntrySummary
  isChosen: boolean
  /** Whether the Tab key leads to it. */
  isReachable: boolean
  hasTunnel: boolean
  onChoose(): void
}

export function EntryRow({ entry, isChosen, isReachable, hasTunnel, onChoose }: EntryRowProps): VNode {
  const { id, at, method, path, tunnel, request_bytes, response_bytes, messages, kind } = entry
  const facts = [
    formatClock(at),
    entry.ms === undefined ? '' : ms(entry.ms),
    formatBytes(request_bytes + response_bytes),
    kind === 'http' ? '' : `${kind} ${messages}`,
    hasTunnel ? (tunnel ?? LIST.unnamed) : '',
    entry.replay_of === undefined ? '' : LIST.replay,
    entry.imported ? LIST.imported : '',
  ]
  return (
    <li>
      <button
        type="button"
        class="entry"
        data-entry={id}
        aria-current={isChosen}
        tabIndex={isReachable ? 0 : -1}
        onClick={onChoose}
      >
        <span class="status" data-wrong={isWrong(entry)}>
          {statusOf(entry)}
        </span>{' '}
        <code>
          {method} <bdi>{path}</bdi>
        </code>{' '}
        <span class="facts quiet">{facts.filter(Boolean).join(' · ')}</span>
      </button>
    </li>
  )
}

export function statusOf({ status, state }: Pick<EntrySummary, 'status' | 'state'>): string {
  if (state === 'failed') return LIST.failed
  return status === undefined ? '…' : String(status)
}

export function isWrong({ status = 0, state, grpc_status = 0 }: EntrySummary): boolean {
  return state === 'failed' || status >= ERROR_STATUS || grpc_status > 0
}
