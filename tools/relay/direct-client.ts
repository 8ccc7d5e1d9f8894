// Asks a relay at the port of its own, also one behind a load balancer or a proxy.
import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import { trusting } from '../tls/trusting.ts'

interface DirectAnswer {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The parsed body; undefined when it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads of it what it expects
  json: any
}

/** Sends one request to a relay on this machine, from 127.0.0.1. */
export type DirectCall = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<DirectAnswer>

/**
 * @param port at which the relay listens
 * @param url by which clients know it
 * @param ca as PEM
 */
export function directCall(port: number, url: string, ca: string): DirectCall {
  const { host, hostname } = new URL(url)
  return async (method, path, body, headers = {}) => {
    const type: Record<string, string> = body === undefined ? {} : { 'Content-Type': 'application/json' }
    const sent = request({
      host: '127.0.0.1',
      servername: hostname,
      port,
      ...trusting(ca),
      method,
      path,
      headers: { Host: host, ...type, ...headers },
    })
    sent.end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = await once(sent, 'response')
    const text = Buffer.concat(await response.toArray()).toString()
    return { status: response.statusCode, headers: response.headers, text, json: parsed(text) }
  }
}

function parsed(text: string): DirectAnswer['json'] {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
