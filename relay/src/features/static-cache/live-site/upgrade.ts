// Passes the opening handshake of a WebSocket on to a live site, and then the bytes of both sides.

import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { boundInterimResponses } from '../../../core/outbound/interim-responses.ts'
import type { LiveSlot } from './admission.ts'
import type { SiteAgent } from './agent.ts'
import { SiteAway, type SiteClient, SiteUntrusted } from './connector.ts'
import { endToEnd, pairs, type SiteRequest } from './fields.ts'
import type { LiveDeadlines } from './limits.ts'

export interface Upgrade {
  socket: Duplex
  /** First bytes of the visitor after the request. */
  head: Buffer
  passed: SiteRequest
  client: SiteClient
  deadlines: LiveDeadlines
  slot: LiveSlot
}

/** The answer of the site. */
type SiteAnswer =
  | { kind: 'switched'; response: IncomingMessage; site: Duplex; siteHead: Buffer }
  | { kind: 'refused'; response: IncomingMessage }
  | { kind: 'away' }
  | { kind: 'failed'; status: number; text: string }

/** Resolves when both sides have ended, with false when no session came. */
export async function passUpgradeOn(upgrade: Upgrade, agent: SiteAgent): Promise<boolean> {
  const { socket, client, slot } = upgrade
  const answer = await ask(upgrade, agent)
  if (answer.kind === 'away') return false
  const cut = (): void => void socket.destroy()
  client.lease.ended.addEventListener('abort', cut, { once: true })
  slot.cut.signal.addEventListener('abort', cut, { once: true })
  try {
    if (answer.kind === 'failed') await sendUpgradeText(socket, answer.status, answer.text)
    else if (answer.kind === 'refused') await sendRefusal(upgrade, answer.response)
    else await join(upgrade, answer)
  } finally {
    client.lease.ended.removeEventListener('abort', cut)
    slot.cut.signal.removeEventListener('abort', cut)
  }
  return true
}

/** Answers an upgrade request with one line of text, and ends the connection. */
export async function sendUpgradeText(
  socket: Duplex,
  status: number,
  text: string,
  fields: readonly string[] = [],
): Promise<void> {
  const body = Buffer.from(`${text}\n`)
  const all = ['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', `${body.length}`]
  const head = headOf(status, [...all, 'Cache-Control', 'no-store', ...fields, 'Connection', 'close'])
  socket.end(Buffer.concat([head, body]))
  await closed(socket)
}

function ask({ socket, passed, client, deadlines }: Upgrade, agent: SiteAgent): Promise<SiteAnswer> {
  return new Promise((resolve) => {
    const upstream = agent.request(client, passed, ['Connection', 'Upgrade', 'Upgrade', 'websocket'])
    const settle = (answer: SiteAnswer): void => {
      clearTimeout(deadline)
      socket.off('close', onLeft)
      resolve(answer)
    }
    const onLeft = (): void => {
      upstream.destroy()
      settle({ kind: 'failed', status: 499, text: 'The visitor has left.' })
    }
    const deadline = setTimeout(() => {
      upstream.destroy()
      settle({ kind: 'failed', status: 504, text: 'The site did not answer in time.' })
    }, deadlines.responseMs)
    socket.once('close', onLeft)
    boundInterimResponses(upstream, () => {
      upstream.destroy()
      settle({ kind: 'failed', status: 502, text: 'The site sent too many interim responses.' })
    })
    upstream
      .on('upgrade', (response: IncomingMessage, site: Duplex, siteHead: Buffer) =>
        settle({ kind: 'switched', response, site, siteHead }),
      )
      .on('response', (response: IncomingMessage) => settle({ kind: 'refused', response }))
      .on('error', (error) => settle(failureOf(error)))
      .end()
    if (socket.destroyed) onLeft()
  })
}

function failureOf(error: Error): SiteAnswer {
  if (error instanceof SiteAway) return { kind: 'away' }
  const text =
    error instanceof SiteUntrusted
      ? 'The certificate of this site cannot be trusted, so the request was not passed on.'
      : 'The connection to the site broke before it answered.'
  return { kind: 'failed', status: 502, text }
}

/** Copies bytes both ways. The end of one side ends the other; an error of one destroys both. */
async function join(
  { socket, head, slot }: Upgrade,
  { response, site, siteHead }: SiteAnswer & { kind: 'switched' },
): Promise<void> {
  const fields = endToEnd(response.rawHeaders)
  socket.write(headOf(101, [...fields, 'Connection', 'Upgrade', 'Upgrade', 'websocket']))
  if (siteHead.length > 0) socket.write(siteHead)
  if (head.length > 0) site.write(head)
  // Server, client and copy add more listeners to the same sockets than Node allows without a warning.
  for (const side of [socket, site]) side.setMaxListeners(0)
  slot.heard()
  for (const side of [socket, site]) side.on('data', () => slot.heard())
  // The bytes of the visitor go to the site, and those of the site to the visitor.
  await pipeline(socket, site, socket).catch(() => {})
  socket.destroy()
  site.destroy()
}

/** Sends a response that refuses the upgrade. The end of the connection ends its body. */
async function sendRefusal({ socket, slot, deadlines }: Upgrade, response: IncomingMessage): Promise<void> {
  const { statusCode = 502 } = response
  slot.heard()
  const quiet = setTimeout(() => socket.destroy(), deadlines.quietMs)
  response.on('data', () => {
    slot.heard()
    quiet.refresh()
  })
  socket.write(headOf(statusCode, [...endToEnd(response.rawHeaders), 'Connection', 'close']))
  await pipeline(response, socket).catch(() => socket.destroy())
  clearTimeout(quiet)
}

/** Node reads and writes the bytes of fields as Latin-1. */
function headOf(status: number, fields: readonly string[]): Buffer {
  const lines = [...pairs(fields)].map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`, 'latin1')
}

function closed(socket: Duplex): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve()
    else socket.once('close', resolve)
    socket.once('finish', () => socket.destroy())
  })
}
