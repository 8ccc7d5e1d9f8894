// An HTTP proxy that leads every CONNECT to one port of this machine, whatever name the client gives, and cuts on demand.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'

/** A ConnectProxy is where clients find a relay whose name the resolver of this machine may not know. */
export interface ConnectProxy {
  url: string
  /** The authorities that clients asked for. */
  asked: string[]
  /** Bytes that passed towards clients. */
  bytes: number
  /** Ends the tunnel that has passed this many bytes to its client, once; undefined: it ends none. */
  cutAfter: number | undefined
  /** Passes no more bytes to a client that got this many in one tunnel, without a sign; undefined: it passes all. */
  stallAfter: number | undefined
  /** Called when it has cut a tunnel. */
  onCut: () => void
  close(): void
}

export interface ConnectProxyOptions {
  /** The value of Proxy-Authorization that clients need. @default none */
  authorization?: string
  /** Certificate and key, PEM, of a proxy to which clients speak TLS. */
  tls?: { cert: string; key: string }
}

export async function startConnectProxy(
  port: number,
  { authorization, tls }: ConnectProxyOptions = {},
): Promise<ConnectProxy> {
  const server = tls ? createSecureServer(tls) : createServer()
  server.on('connect', ({ url, headers }, near, head) => {
    if (authorization !== undefined && headers['proxy-authorization'] !== authorization) {
      near.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n')
      return
    }
    proxy.asked.push(`${url}`)
    const far = connect({ host: '127.0.0.1', port })
    let passed = 0
    far.once('connect', () => near.write('HTTP/1.1 200 Connection established\r\n\r\n'))
    far.write(head)
    near.pipe(far)
    far.on('data', (bytes) => {
      passed += bytes.length
      proxy.bytes += bytes.length
      near.write(bytes)
      if (proxy.stallAfter !== undefined && passed >= proxy.stallAfter) far.pause()
      if (proxy.cutAfter === undefined || passed < proxy.cutAfter) return
      proxy.cutAfter = undefined
      near.end()
      far.destroy()
      proxy.onCut()
    })
    near.on('error', () => {}).on('close', () => far.destroy())
    far.on('error', () => {}).on('close', () => near.end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy: ConnectProxy = {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    bytes: 0,
    cutAfter: undefined,
    stallAfter: undefined,
    onCut: () => {},
    close: () => void server.close(),
  }
  return proxy
}
