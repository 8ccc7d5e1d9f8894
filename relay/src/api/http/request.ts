// A request of the API, and which of them leave HTTP: a native client may ask for its session without upgrade headers.

import { IncomingMessage } from 'node:http'
import { HEADER, PATH } from '@svc/protocol'

/** Node's own flag. It is set within the base constructor already, when no field of a subclass is there yet. */
const upgrading = new WeakSet<IncomingMessage>()

/** For the server's `IncomingMessage` option. */
export class ApiRequest extends IncomingMessage {
  /** Node asks once the head is read, and hands the connection over as it does for every upgrade. */
  get upgrade(): boolean {
    return upgrading.has(this) || asksForSession(this)
  }

  set upgrade(value: boolean | null) {
    if (value) upgrading.add(this)
    else upgrading.delete(this)
  }
}

/** The one request that may be upgraded. */
export function isConnect(request: IncomingMessage): boolean {
  return request.method === 'GET' && pathOf(request) === PATH.connect
}

export function pathOf(request: IncomingMessage): string {
  const target = request.url ?? '/'
  const query = target.indexOf('?')
  return query < 0 ? target : target.slice(0, query)
}

/** A header that may come once; empty when it is not there. */
export function headerOf(request: IncomingMessage, name: string): string {
  const value = request.headers[name.toLowerCase()]
  return typeof value === 'string' ? value : ''
}

function asksForSession(request: IncomingMessage): boolean {
  return request.headers[HEADER.reverseCapability.toLowerCase()] !== undefined && isConnect(request)
}
