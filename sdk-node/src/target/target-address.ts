// Parses the address of a local service: a port, `host:port`, a URL, `grpc://` or `h2c://`, or the path of a Unix socket.

import { SvcError } from '@svc/sdk-core'

export interface TcpTarget {
  host: string
  port: number
}

const LOCAL = 'localhost'
const PORT_MAX = 65_535

/**
 * @param option the name of the option, for the error
 * @throws SvcError `invalid_option` when `target` is not an address
 */
export function parseTcpTarget(option: string, target: number | string): TcpTarget {
  const parsed = hostAndPort(String(target))
  if (!parsed) throw invalid(option, target, 'a port, or host:port')
  return { ...parsed, host: parsed.host.replace(/^\[|\]$/g, '') }
}

/**
 * @param option the name of the option, for the error
 * @throws SvcError `invalid_option` when `target` is not an address
 */
export function parseHttpTarget(target: number | string | URL, option = 'http'): URL {
  const path = unixPath(typeof target === 'object' ? decodeURI(target.href) : String(target))
  if (path === '')
    throw invalid(option, target, 'a Unix socket such as unix:/run/app.sock, with its whole path')
  if (path !== undefined) return new URL(`unix:${encodeURI(path)}`)
  const [, scheme, address] = /^(grpc|h2c):\/\/(.*)$/s.exec(String(target)) ?? []
  const parsed = hostAndPort(address ?? String(target))
  const url = parsed
    ? new URL(`http://${parsed.host}:${parsed.port}`)
    : URL.parse(address === undefined ? String(target) : `http://${address}`)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash)
    throw invalid(
      option,
      target,
      'a port, host:port, unix:/path, or a URL (http, https, grpc, h2c) without credentials, query or fragment',
    )
  return scheme === undefined ? url : new URL(url.href.replace('http:', 'h2c:'))
}

/** @returns the `http:` URL of a parsed target for HTTP/2 without TLS (prior knowledge); undefined for another */
export function priorKnowledge({ protocol, href }: URL): URL | undefined {
  return protocol === 'h2c:' ? new URL(href.replace('h2c:', 'http:')) : undefined
}

/** @returns the path of a Unix socket, empty when it names no file, and undefined for an address of another kind */
function unixPath(text: string): string | undefined {
  const path = /^unix:(?:\/\/(?=\/))?(.*)$/s.exec(text)?.[1]
  return path === undefined || /^\/[^\0?#/][^\0?#]*$/.test(path) ? path : ''
}

/** @returns the path of the Unix socket at which a parsed target listens; undefined for one that has a host */
export function socketPathOf({ protocol, pathname }: URL): string | undefined {
  return protocol === 'unix:' ? decodeURI(pathname) : undefined
}

/** @returns the host as in a URL, with an IPv6 address in brackets */
function hostAndPort(text: string): TcpTarget | undefined {
  const url = URL.parse(/^\d+$/.test(text) ? `tcp://${LOCAL}:${text}` : `tcp://${text}`)
  const port = Number(url?.port)
  const isBare = url !== null && url.pathname + url.search + url.hash + url.username === ''
  return isBare && url.hostname !== '' && port >= 1 && port <= PORT_MAX
    ? { host: url.hostname, port }
    : undefined
}

function invalid(option: string, target: unknown, wanted: string): SvcError {
  return new SvcError('invalid_option', `${option} ${JSON.stringify(String(target))} is not ${wanted}`)
}
