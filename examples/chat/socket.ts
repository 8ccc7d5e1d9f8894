// A visitor by WebSocket: events come as JSON, what is said goes as text.
import type { FetchInfo } from '@svc/sdk-browser'
import { say } from '../shared/refusals.ts'
import { SENT_MAX_BYTES, WAITING_MAX_BYTES } from './limits.ts'
import type { Room } from './room.ts'

/** The close code "Try Again Later" of IANA's registry. */
const TRY_AGAIN_LATER = 1013

export function openSocket(room: Room, request: Request, info: FetchInfo): Response {
  const { origin, searchParams } = new URL(request.url)
  // Any page may open a WebSocket to any site; what is no browser says no origin.
  if ((request.headers.get('origin') ?? origin) !== origin) return say(request, 403, 'Not from other sites')
  const { socket, response } = info.upgrade(request, { maxMessageBytes: SENT_MAX_BYTES })
  socket.onopen = () => {
    const member = room.join(searchParams.get('name') ?? '', (event) => {
      if (socket.bufferedAmount < WAITING_MAX_BYTES) socket.send(JSON.stringify(event))
      else socket.close(TRY_AGAIN_LATER, 'You do not keep up')
    })
    if (!member) return socket.close(TRY_AGAIN_LATER, 'The room is full')
    socket.onmessage = ({ data }) => {
      if (typeof data === 'string') member.say(data)
    }
    socket.onclose = member.leave
  }
  return response
}
