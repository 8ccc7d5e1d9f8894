// Proxies a visitor's WebSocket to the target, message by message. The only importer of ws.

import type { IncomingMessage } from 'node:http'
import { connect as connectSocket } from 'node:net'
import { Readable } from 'node:stream'
import {
  endToEnd,
  type FetchInfo,
  type Field,
  fieldsForVisitor,
  type KnownVisitor,
  type VisitorSocket,
} from '@svc/sdk-core'
import { isResponse } from '@svc/sdk-core/platform-objects'
import { WebSocket } from 'ws'
import type { TargetAccess } from '../http-client/target-dialer.ts'
import { ADDRESS_DEADLINE_MS, TARGET_CONNECT_DEADLINE_MS } from '../net/deadlines.ts'
import { localhostLookup } from '../net/localhost-lookup.ts'
import { forwardedFields } from './forwarded-fields.ts'
import type { TargetView } from './target-origin.ts'

/** The bytes of WebSocket messages that may wait for one side, visitor or local service, before the SDK stops reading from the other. */
const WEBSOCKET_WAITING_MAX_BYTES = 1024 * 1024
/** The longest message of a local service, in bytes: the same limit as for visitors' messages. */
export const TARGET_MESSAGE_MAX_BYTES: number = 16 * 1024 * 1024
/** The polling interval for a visitor whose queue is full, in milliseconds: no event says that it has drained. */
const WEBSOCKET_DRAIN_POLL_MS = 20

/** RFC 6455 §7.4.1: the Close frame had no code, or there was none. Neither code is ever sent. */
const NO_STATUS = 1005
const ABNORMAL = 1006
const TOO_BIG = 1009
/** Fetch standard, "null body status". */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

interface Asking extends TargetAccess {
  view: TargetView
  /** Where the visitor's connection comes from. */
  visitor?: KnownVisitor
}

interface Opened {
  target: WebSocket
  /** The fields of the target's 101. */
  fields: Field[]
}

/**
 * Connects to the target first: the visitor gets the target's subprotocol and fields, or its refusal.
 * @throws the error of the connection to the target
 */
export async function proxyWebSocket(
  url: URL,
  request: Request,
  { upgrade, remote, clientCertificate }: FetchInfo,
  asking: Asking,
): Promise<Response> {
  const opened = await open(url, request, { ...asking, visitor: { remote, clientCertificate } })
  if (isResponse(opened)) return opened
  const { target, fields } = opened
  try {
    const { socket, response } = upgrade(request, {
      protocol: target.protocol,
      maxMessageBytes: TARGET_MESSAGE_MAX_BYTES,
    })
    for (const [name, value] of fields) response.headers.append(name, value)
    join(socket, target)
    return response
  } catch (error) {
    target.terminate()
    throw error
  }
}

function open(
  url: URL,
  request: Request,
  { ca, serverName, socketPath, view, visitor = {} }: Asking,
): Promise<Opened | Response> {
  const offered = request.headers.get('sec-websocket-protocol')?.split(',') ?? []
  const headers = Object.fromEntries(
    forwardedFields(request.headers, view, visitor).filter(([name]) => !name.startsWith('sec-websocket-')),
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
    let fields: Field[] = []
    socket.on('upgrade', (answer) => {
      fields = fieldsOf(answer, view)
    })
    socket.on('open', () => {
      request.signal.removeEventListener('abort', leave)
      // A message before the first listener would be lost.
      socket.pause()
      resolve({ target: socket, fields })
    })
    socket.on('unexpected-response', (_, answer) => resolve(refusal(answer, view)))
    socket.on('error', reject)
  })
}

function fieldsOf({ rawHeaders }: IncomingMessage, view: TargetView): Field[] {
  const fields: Field[] = []
  for (let i = 0; i < rawHeaders.length; i += 2)
    fields.push([rawHeaders[i]!.toLowerCase(), rawHeaders[i + 1]!])
  return fieldsForVisitor(endToEnd(fields), view)
}

/** Forwards the target's answer when it is not 101. */
function refusal(answer: IncomingMessage, view: TargetView): Response {
  const { statusCode: status = 0, statusMessage: statusText = '' } = answer
  const isEmpty = WITHOUT_BODY.has(status)
  if (isEmpty) answer.resume()
  const body = isEmpty ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array<ArrayBuffer>>)
  const headers = new Headers()
  for (const [name, value] of fieldsOf(answer, view)) headers.append(name, value)
  return new Response(body, { status, statusText, headers })
}

function join(visitor: VisitorSocket, target: WebSocket): void {
  visitor.binaryType = 'arraybuffer'
  visitor.onopen = () => target.resume()
  visitor.onmessage = ({ data }) => {
    target.send(data as string | ArrayBuffer, () => {
      if (target.bufferedAmount <= WEBSOCKET_WAITING_MAX_BYTES / 2) visitor.resume()
    })
    if (target.bufferedAmount > WEBSOCKET_WAITING_MAX_BYTES) visitor.pause()
  }
  passMessages(target, visitor)
  visitor.onclose = ({ code, reason }) => {
    target.resume()
    if (code === ABNORMAL) target.terminate()
    else target.close(...statusToPass(code, reason))
  }
  target.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH')
      visitor.close(TOO_BIG, 'a message of the server is larger than 16 MiB')
  })
  target.on('close', (code, reason) => {
    if (code !== ABNORMAL) visitor.close(...statusToPass(code, reason.toString()))
    else if (visitor.readyState === WebSocket.OPEN) visitor.terminate()
  })
}

/** Forwards the target's messages, no faster than the visitor accepts them. */
function passMessages(target: WebSocket, visitor: VisitorSocket): void {
  let poll: NodeJS.Timeout | undefined
  const stop = (): void => {
    clearInterval(poll)
    poll = undefined
  }
  target.on('message', (data, isBinary) => {
    visitor.send(isBinary ? (data as Buffer) : data.toString())
    if (poll !== undefined || visitor.bufferedAmount <= WEBSOCKET_WAITING_MAX_BYTES) return
    target.pause()
    poll = setInterval(() => {
      if (visitor.bufferedAmount > WEBSOCKET_WAITING_MAX_BYTES / 2) return
      stop()
      target.resume()
    }, WEBSOCKET_DRAIN_POLL_MS)
  })
  target.on('close', stop)
  visitor.addEventListener('close', stop)
}

function statusToPass(code: number, reason: string): [code?: number, reason?: string] {
  return code === NO_STATUS ? [] : [code, reason]
}
