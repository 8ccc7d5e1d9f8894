// The messages of a WebSocket, of a stream of events, or of a gRPC call, newest last.

import { formatBytes } from '../common/format.ts'
import type { VNode } from '../preact.ts'
import { Decoded } from './body-view.tsx'
import { DETAIL, ms } from './texts.ts'
import type { EntryDetail, MessageDetail } from './types.ts'

export function MessagesView({ entry }: { entry: EntryDetail }): VNode {
  const { stream, dropped_messages } = entry
  return (
    <>
      {dropped_messages > 0 && <p class="quiet">{DETAIL.dropped(dropped_messages)}</p>}
      {stream.length === 0 && <p class="quiet">{DETAIL.noMessages}</p>}
      <ol class="stream" aria-label={DETAIL.tabs.messages}>
        {stream.map((message, position) => (
          // The oldest ones leave, so that a position alone names no message.
          <Line key={dropped_messages + position} message={message} />
        ))}
      </ol>
    </>
  )
}

function Line({ message }: { message: MessageDetail }): VNode {
  const { direction, kind, at, size, text, cut, event, event_id, compressed, protobuf } = message
  const isIn = direction === 'in'
  const isHex = kind === 'binary' || (kind === 'grpc' && !protobuf)
  const facts = [
    isIn ? DETAIL.fromVisitor : DETAIL.toVisitor,
    kind,
    event,
    event_id === undefined ? undefined : `id ${event_id}`,
    ms(at),
    formatBytes(size),
    compressed ? DETAIL.compressed : undefined,
  ]
  return (
    <li data-direction={direction}>
      <span class="quiet">
        <span aria-hidden="true">{isIn ? '→ ' : '← '}</span>
        <bdi>{facts.filter(Boolean).join(' · ')}</bdi>
      </span>
      {protobuf && <Decoded {...protobuf} />}
      {text !== '' && <pre class={isHex ? 'hex' : ''}>{cut ? `${text} …` : text}</pre>}
    </li>
  )
}
