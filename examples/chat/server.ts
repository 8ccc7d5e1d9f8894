// The room's site: its page, and two ways to talk. /socket is a WebSocket; /events and /messages do without.
import type { FetchHandler } from '@svc/sdk-browser'
import { htmlPage } from '../shared/html-page.ts'
import { notFound } from '../shared/refusals.ts'
import { EventsEndpoint } from './events.ts'
import { NAME_MAX_CHARS } from './limits.ts'
import roomHtml from './room.html?raw'
import type { Room } from './room.ts'
import { openSocket } from './socket.ts'
import style from './visitor.css?inline'
import visitorHtml from './visitor.html?raw'
import script from './visitor.ts?script'

const main: string = visitorHtml
  .replace('NAME_MAX_CHARS', String(NAME_MAX_CHARS))
  .replace('<!-- room -->', () => roomHtml)

export function chatServer(room: Room): FetchHandler {
  const events = new EventsEndpoint(room)
  return (request, info) => {
    const { pathname } = new URL(request.url)
    switch (`${request.method} ${pathname}`) {
      case 'GET /':
      case 'HEAD /':
        return htmlPage({ title: 'Chat', style, main, script })
      case 'GET /socket':
        return openSocket(room, request, info)
      case 'GET /events':
        return events.open(request)
      case 'POST /messages':
        return events.receive(request)
      default:
        return notFound(request)
    }
  }
}
