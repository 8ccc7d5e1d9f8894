// The answer to a request that no handler gets to see.

import { METHODS } from './asked.ts'
import { httpDate } from './date.ts'
import type { HttpError } from './errors.ts'
import { encodeLatin1 } from './latin1.ts'
import { reasonOf } from './reason.ts'

/** The methods, as the Allow field lists them. */
export const ALLOW: string = [...METHODS].join(', ')

/** RFC 9110 §15.5.22 and RFC 6455 §4.2.2: which protocol, and which version of it. */
const UPGRADE = 'connection: close, upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13'

/** A whole response, after which the connection closes. @param method of the request, when that much was understood */
export function encodeRefusal({ status, message }: HttpError, method: string | undefined): Uint8Array {
  const fields = [
    `HTTP/1.1 ${status} ${reasonOf(status)}`,
    `date: ${httpDate()}`,
    'content-type: text/plain',
    `content-length: ${message.length}`,
    status === 426 ? UPGRADE : 'connection: close',
  ]
  if (status === 405) fields.push(`allow: ${ALLOW}`) // RFC 9110 §15.5.6 demands it
  return encodeLatin1(`${fields.join('\r\n')}\r\n\r\n${method === 'HEAD' ? '' : message}`)
}
