// The certificate chain that a relay presents over TLS, for relays of other implementations, which have no
// endpoint for it.

import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import { connect, type TLSSocket } from 'node:tls'
import { PATH } from '@svc/protocol'
import type { FetchFunction, FetchResponse } from '@svc/sdk-core'
import { openThrough, type RelayConnectOptions } from './forward-proxy.ts'

/** The statuses of a relay without the endpoint. */
const MISSING: ReadonlySet<number> = new Set([404, 405])

/** @param tls returns a CA, a DNS lookup and a proxy for a connection to the relay */
export function withPeerChain(fetch: FetchFunction, tls: () => RelayConnectOptions): FetchFunction {
  return async (url, init) => {
    const answer = await fetch(url, init)
    if (!url.endsWith(PATH.certificateChain) || !isMissing(answer)) return answer
    await answer.body?.cancel()
    const chain = await peerChain(new URL(url), tls(), init.signal)
    const body = Readable.toWeb(Readable.from([Buffer.from(chain)])) as FetchResponse['body']
    return { status: 200, ok: true, headers: answer.headers, body }
  }
}

/** Returns whether the endpoint is missing. A relay may answer unknown paths with its page. */
function isMissing({ status, ok, headers }: FetchResponse): boolean {
  return MISSING.has(status) || (ok && headers.get('Content-Type')?.startsWith('text/html') === true)
}

/** @returns PEM, leaf first, without what the relay did not send. @throws the error of the connection */
async function peerChain(
  url: URL,
  { proxyFor, ...tls }: RelayConnectOptions,
  signal: AbortSignal,
): Promise<string> {
  const { hostname, port } = url
  const proxy = proxyFor?.(url)
  const tunnel = proxy && (await openThrough(proxy, url, signal))
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = connect({
    ...tls,
    host,
    port: Number(port || 443),
    ...(tunnel && { socket: tunnel.socket }),
    ...(isIP(host) === 0 && { servername: host }),
    ALPNProtocols: ['http/1.1'],
  })
  const giveUp = (): void => void socket.destroy(signal.reason)
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    if (signal.aborted) giveUp()
    await secured(socket)
    let chain = ''
    for (let at = socket.getPeerX509Certificate(); at !== undefined; at = at.issuerCertificate) chain += at
    return chain
  } finally {
    signal.removeEventListener('abort', giveUp)
    socket.destroy()
  }
}

function secured(socket: TLSSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('secureConnect', resolve)
    socket.on('error', reject)
    socket.once('close', () => reject(new Error('the relay closed the connection')))
  })
}
