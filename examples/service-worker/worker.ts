// The server: a service worker, or a shared one, that publishes the notice board and answers while pages come and go.

import { escapeHtml } from '@svc/protocol/documents'
import { publish, type Site } from '@svc/sdk-browser'
import { htmlPage } from '../shared/html-page.ts'
import { notFound } from '../shared/refusals.ts'
import { type BoardState, CHANNEL, type Command } from './messages.ts'
import { readNotice, writeNotice } from './notice.ts'

const VISITS_MAX = 20
/** Milliseconds for which each message of a page keeps the worker: pages in the background send one a minute. */
const LINGER_MS = 90_000

const pages = new BroadcastChannel(CHANNEL)
let site: Site | undefined
let wasAsked = false
let state: BoardState = {
  ...{ site: 'closed', url: '', error: '', notice: '', visits: [], visitCount: 0 },
  worker: 'skipWaiting' in globalThis ? 'service worker' : 'shared worker',
  startedAt: Date.now(),
}

async function obey(command: Command): Promise<void> {
  switch (command.type) {
    case 'here':
      if (!wasAsked) await start(command)
      break
    case 'publish':
      await start(command)
      break
    case 'stop':
      await site?.close()
      break
    case 'write':
      await writeNotice(command.notice)
  }
  show({ notice: await readNotice() })
}

async function start({ name, identity }: { name: string; identity: string }): Promise<void> {
  wasAsked = true
  show({ site: 'connecting', url: '', error: '' })
  try {
    await publish({ relay: location.origin, name, identity, fetch: answer, onSite: follow })
  } catch (error) {
    show({ site: 'closed', error: error instanceof Error ? error.message : String(error) })
  }
}

function follow(begun: Site): void {
  site = begun
  begun.addEventListener('statechange', () => {
    show({ site: begun.state, url: begun.url, waiting: begun.waiting })
  })
  begun.addEventListener('error', ({ error }) => {
    if (begun.state !== 'waiting') show({ error: error.message })
  })
}

async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  const visits = [{ at: Date.now(), request: `${request.method} ${pathname}` }, ...state.visits]
  show({ visits: visits.slice(0, VISITS_MAX), visitCount: state.visitCount + 1 })
  if (pathname !== '/') return notFound(request)
  const notice = escapeHtml((await readNotice()) || 'Nothing on the board yet.')
  return htmlPage({
    title: 'Notice board',
    style: '.box { white-space: pre-wrap; }',
    main: `<h1>Notice board</h1>\n<p class="box">${notice}</p>`,
  })
}

function show(change: Partial<BoardState>): void {
  state = { ...state, ...change }
  pages.postMessage(state)
}

// A new version takes over at once: the site is published again under its name.
addEventListener('install', () => (globalThis as { skipWaiting?(): void }).skipWaiting?.())
addEventListener('message', (event) => {
  obey(event.data)
  const { waitUntil } = event as { waitUntil?(until: Promise<void>): void }
  waitUntil?.call(event, new Promise((resolve) => setTimeout(resolve, LINGER_MS)))
})
addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports
  if (port) port.onmessage = ({ data }) => obey(data)
})
