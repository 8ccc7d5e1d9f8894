// Chat: the room lives in this page, whose user is its host. Visitors come by the site that it publishes.
import { publish } from '@svc/sdk-browser'
import { element } from '../shared/dom.ts'
import { friendlyNames } from '../shared/name.ts'
import { showSite } from '../shared/show-site.ts'
import roomHtml from './room.html?raw'
import { Room } from './room.ts'
import { chatServer } from './server.ts'
import { createView, show } from './view.ts'

element('room').innerHTML = roomHtml
const room = new Room()
const host = room.join('Host', show, true)
createView((text) => {
  host?.say(text)
  return true
})

showSite(friendlyNames('chat'), (site) =>
  publish({ relay: location.origin, fetch: chatServer(room), ...site }),
)
