// A chat room in this tab: the room of the example, whose host is the owner of the tab.

import roomHtml from '../../../../../examples/chat/room.html?raw'
import { Room, type RoomEvent } from '../../../../../examples/chat/room.ts'
import { chatServer } from '../../../../../examples/chat/server.ts'
import { createView, show } from '../../../../../examples/chat/view.ts'
import '../../../../../examples/chat/room.css'
import { useEffect, useRef, type VNode } from '../../preact.ts'
import { LANDING } from '../../texts/landing.ts'
import type { Demo } from './demo.ts'

export function createDemo(): Demo {
  const room = new Room()
  const View = (): VNode => <HostView room={room} />
  return { fetch: chatServer(room), View }
}

/** The host leaves while its owner looks at other pages, and is told what was said when it is back. */
function HostView({ room }: { room: Room }): VNode {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // Markup of the example, with nothing in it that a person wrote.
    const view = place.current!
    view.innerHTML = roomHtml
    // Visitors leave when the site stops, and then the view may be gone before its host.
    const showHere = (event: RoomEvent): void => {
      if (view.isConnected) show(event)
    }
    const host = room.join(LANDING.chatHost, showHere, true)
    createView((text) => {
      host?.say(text)
      return host !== undefined
    })
    return () => host?.leave()
  }, [room])
  return <div ref={place} />
}
