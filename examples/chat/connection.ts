// A visitor's way into the room: WebSocket, or events and POST where that does not get through. Comes back by itself.
import type { RoomEvent } from './room.ts'

/** Milliseconds between two attempts. */
const RETRY_MS = 3000

/** @returns says something, or returns false while there is no connection */
export function connect(
  name: string,
  onEvent: (event: RoomEvent) => void,
  onStatus: (status: string) => void,
): (text: string) => boolean {
  const query = new URLSearchParams({ name })
  let say: ((text: string) => void) | undefined
  openSocket()
  return (text) => {
    say?.(text)
    return say !== undefined
  }

  function openSocket(): void {
    const socket = new WebSocket(`${location.origin.replace('https:', 'wss:')}/socket?${query}`)
    let wasOpen = false
    socket.onopen = () => {
      wasOpen = true
      say = (text) => socket.send(text)
      onStatus('Connected by WebSocket.')
    }
    socket.onmessage = ({ data }) => onEvent(JSON.parse(data))
    socket.onclose = ({ reason }) => {
      if (!wasOpen) return openEvents()
      lose(`${reason || 'The connection is lost'}. Trying again …`)
      setTimeout(openSocket, RETRY_MS)
    }
  }

  function openEvents(): void {
    const source = new EventSource(`/events?${query}`)
    source.onmessage = ({ data }) => onEvent(JSON.parse(data))
    source.addEventListener('key', ({ data }) => {
      say = (text) => post(data, text)
      onStatus('Connected by server-sent events.')
    })
    source.onerror = () => {
      lose('The room cannot be reached. Trying again …')
      source.close()
      setTimeout(openSocket, RETRY_MS)
    }
  }

  function lose(reason: string): void {
    say = undefined
    onStatus(reason)
  }

  async function post(key: string, text: string): Promise<void> {
    try {
      const { ok } = await fetch(`/messages?${new URLSearchParams({ key })}`, { method: 'POST', body: text })
      if (!ok) onStatus('That was not sent.')
    } catch {
      onStatus('That was not sent.')
    }
  }
}
