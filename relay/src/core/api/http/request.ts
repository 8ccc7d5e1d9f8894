// The class of API requests. It recognizes those for a reverse session, which native SDKs send without upgrade headers.

import { IncomingMessage } from '@svc/node-kit/http-module'
import { HEADER, PATH } from '@svc/protocol'
import { RelayError } from '../../errors.ts'

/** Requests whose `upgrade` flag Node set. The base constructor sets it, before a subclass has its fields. */
const upgrading = new WeakSet<IncomingMessage>()

/** The class for the server's `IncomingMessage` option. */
export class ApiRequest extends IncomingMessage {
  /** Node reads this after the head, and emits `upgrade` if it is true. */
  get upgrade(): boolean {
    return upgrading.has(this) || requestsSession(this)
  }

  set upgrade(value: boolean | null) {
    if (value) upgrading.add(this)
    else upgrading.delete(this)
  }
}

/** Whether a request may be upgraded. */
export function mayUpgrade(request: IncomingMessage): boolean {
  return isConnect(request) || isNeighbour(request)
}

/** Returns whether a request asks for a connection to a neighbour of the relay. */
export function isNeighbour(request: IncomingMessage): boolean {
  return request.method === 'GET' && pathOf(request) === PATH.neighbour
}

/**
 * Refuses a request with a body that is to be upgraded: its bytes could be mistaken for the first ones of the other
 * protocol.
 * @throws RelayError `invalid_request`
 */
export function requireNoBody({ headers }: IncomingMessage): void {
  const isEmpty = /^0*$/.test(headers['content-length'] ?? '') && headers['transfer-encoding'] === undefined
  if (!isEmpty) throw new RelayError('invalid_request', 'a request to change the protocol has no body')
}

export function pathOf(request: IncomingMessage): string {
  const target = request.url ?? '/'
  const query = target.indexOf('?')
  return query < 0 ? target : target.slice(0, query)
}

/** The value of a header; empty if it is missing. */
export function headerOf(request: IncomingMessage, name: string): string {
  const value = request.headers[name.toLowerCase()]
  return typeof value === 'string' ? value : ''
}

function isConnect(request: IncomingMessage): boolean {
  return request.method === 'GET' && pathOf(request) === PATH.connect
}

function requestsSession(request: IncomingMessage): boolean {
  return request.headers[HEADER.reverseCapability.toLowerCase()] !== undefined && isConnect(request)
}
