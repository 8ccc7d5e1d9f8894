// Proxies a visitor's WebSocket to the target, message by message. Only importer of ws.

import { connect as connectSocket } from 'node:net'
import type { FetchInfo, VisitorSocket } from '@svc/sdk-core'
import { isResponse } from '@svc/sdk-core/platform-objects'
import { WebSocket } from 'ws'
import type { TargetAccess } from '../http-client/connection-pool.ts'
import {
  ADDRESS_DEADLINE_MS,
  TARGET_CONNECT_DEADLINE_MS,
  TARGET_MESSAGE_MAX_BYTES,
  WEBSOCKET_BACKLOG_MAX_BYTES,
  WEBSOCKET_DRAIN_POLL_MS,
  WEBSOCKET_WAITING_MAX_BYTES,
} from '../limits.ts'
import { localhostLookup } from '../net/localhost-lookup.ts'
import { forwardedFields } from './forwarded-fields.ts'
import type { TargetView } from './target-origin.ts'

/** RFC 6455 §7.4.1: no code was in the Close frame, or there was no such frame. Neither is ever sent. */
const NO_STATUS = 1005
const ABNORMAL = 1006
const GOING_AWAY = 1001
const TOO_BIG = 1009

interface Asking extends TargetAccess {
  view: TargetView
}

/**
 * Lets the target answer first: the visitor gets the protocol that the target selects, or its refusal.
 * @throws the error with which the connection to the target failed
 */
export async function proxyWebSocket(
  url: URL,
  request: Request,
  { upgrade }: FetchInfo,
  asking: Asking,
): Promise<Response> {
  const opened = await open(url, request, asking)
  if (isResponse(opened)) return opened
  try {
    const { socket, response } = upgrade(request, {
      protocol: opened.protocol,
      maxMessageBytes: TARGET_MESSAGE_MAX_BYTES,
    })
    join(socket, opened)
    return response
  } catch (error) {
    opened.terminate()
    throw error
  }
}

function open(
  url: URL,
  request: Request,
  { ca, serverName, socketPath, view }: Asking,
): Promise<WebSocket | Response> {
  const offered = request.headers.get('sec-websocket-protocol')?.split(',') ?? []
  const headers = Object.fromEntries(
    forwardedFields(request.headers, view).filter(([name]) => !name.startsWith('sec-websocket-')),
  )
  const connect = {
    lookup: localhostLookup,
    autoSelectFamilyAttemptTimeout: ADDRESS_DEADLINE_MS,
    ...(ca !== undefined && { ca }),
    ...(serverName !== undefined && { servername: serverName }),
    ...(socketPath !== undefined && { createConnection: () => connectSocket(socketPath) }),
  }
  const target = new URL(url)
  target.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(
      target,
      offered.map((protocol) => protocol.trim()),
      {
        ...connect,
        headers,
        handshakeTimeout: TARGET_CONNECT_DEADLINE_MS,
        maxPayload: TARGET_MESSAGE_MAX_BYTES,
        perMessageDeflate: false,
      },
    )
    const leave = (): void => socket.terminate()
    request.signal.addEventListener('abort', leave, { once: true })
    socket.on('open', () => {
      request.signal.removeEventListener('abort', leave)
      // a message before the first listener would be lost
      socket.pause()
      resolve(socket)
    })
    socket.on('unexpected-response', (asked, answer) => {
      asked.destroy()
      resolve(new Response(null, { status: answer.statusCode === 101 ? 502 : answer.statusCode! }))
    })
    socket.on('error', reject)
  })
}

function join(visitor: VisitorSocket, target: WebSocket): void {
  let poll: NodeJS.Timeout | undefined
  visitor.binaryType = 'arraybuffer'
  visitor.onopen = () => target.resume()
  visitor.onmessage = ({ data }) => {
    target.send(data as string | ArrayBuffer)
    if (target.bufferedAmount <= WEBSOCKET_BACKLOG_MAX_BYTES) return
    visitor.close(TOO_BIG, 'the server behind this site reads too slowly')
    target.terminate()
  }
  visitor.onclose = ({ code, reason }) => {
    clearInterval(poll)
    target.resume()
    target.close(...statusToPass(code, reason))
  }
  target.on('message', (data, isBinary) => {
    visitor.send(isBinary ? (data as Buffer) : data.toString())
    if (poll !== undefined || visitor.bufferedAmount <= WEBSOCKET_WAITING_MAX_BYTES) return
    target.pause()
    poll = setInterval(() => {
      if (visitor.bufferedAmount > WEBSOCKET_WAITING_MAX_BYTES / 2) return
      clearInterval(poll)
      poll = undefined
      target.resume()
    }, WEBSOCKET_DRAIN_POLL_MS)
  })
  target.on('close', (code, reason) => {
    clearInterval(poll)
    visitor.close(...statusToPass(code, reason.toString()))
  })
}

function statusToPass(code: number, reason: string): [code?: number, reason?: string] {
  if (code === NO_STATUS) return []
  return code === ABNORMAL ? [GOING_AWAY] : [code, reason]
}
