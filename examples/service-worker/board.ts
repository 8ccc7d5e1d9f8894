// Shared by the board's pages: they start the worker, keep it running, and show its site.
import { element } from '../shared/dom.ts'
import { sharedNames } from '../shared/name.ts'
import { showError } from '../shared/show-error.ts'
import { createSiteCard, showSiteState } from '../shared/site-card.ts'
import { type BoardState, CHANNEL, type Command } from './messages.ts'
import workerUrl from './worker.ts?worker&url'

/** Milliseconds, less than the 30 seconds after which Chromium ends a service worker that gets no message. */
const HERE_MS = 20_000

type Send = (command: Command) => void

/**
 * Starts the worker. What is sent before the worker is there reaches it later.
 * @param show called with each state of the worker
 */
export function openBoard(show: (state: BoardState) => void): Send {
  new BroadcastChannel(CHANNEL).onmessage = ({ data }: MessageEvent<BoardState>) => {
    showSiteState(data.site, data.url, data.waiting)
    showError(data.error)
    element('worker').textContent =
      `A ${data.worker} answers since ${new Date(data.startedAt).toLocaleTimeString()}.`
    show(data)
  }
  const { name, identity, keep } = sharedNames('service-worker')
  const worker = startWorker()
  const send: Send = (command) => {
    worker.then((post) => post(command))
  }
  createSiteCard(name, {
    publish(name) {
      keep(name)
      send({ type: 'publish', name, identity })
    },
    stop: () => send({ type: 'stop' }),
  })
  const sayHere = (): void => send({ type: 'here', name, identity })
  setInterval(sayHere, HERE_MS)
  sayHere()
  return send
}

/** A service worker stays while one page gives way to the next. Where there is none, a shared worker begins again. */
async function startWorker(): Promise<Send> {
  try {
    const registration = await navigator.serviceWorker.register(workerUrl, { type: 'module' })
    await navigator.serviceWorker.ready
    return (command) => registration.active?.postMessage(command)
  } catch {
    const { port } = new SharedWorker(workerUrl, { type: 'module' })
    return (command) => port.postMessage(command)
  }
}
