// Connections through an HTTP proxy: its choice, by HTTPS_PROXY and NO_PROXY or an option, and a tunnel by CONNECT
// (RFC 9110 §9.3.6), inside which TLS to the relay is end to end.

import { BlockList, isIP, isIPv6, connect as open, type Socket } from 'node:net'
import { type ConnectionOptions, connect } from 'node:tls'
import { request } from '@svc/node-kit/http-module'
import { SvcError } from '@svc/sdk-core'
import { ADDRESS_DEADLINE_MS, DIAL_DEADLINE_MS } from './deadlines.ts'
import { localhostLookup } from './localhost-lookup.ts'

/** Returns the proxy for a connection to a URL; undefined for a direct one. */
export type ProxyFor = (url: URL) => URL | undefined

/** Options of TLS connections to a relay, and their proxy. */
export interface RelayConnectOptions extends ConnectionOptions {
  proxyFor?: ProxyFor | undefined
}

/** A connection through a proxy. */
export interface Tunnel {
  /** TCP to the proxy. */
  raw: Socket
  /** The tunnel to the host: the same socket, or TLS to the proxy over it. */
  socket: Socket
}

type Environment = Readonly<Record<string, string | undefined>>

const HTTPS_PORT = 443
const OK = 200
const PROXY_AUTHENTICATION_REQUIRED = 407

/**
 * @param option the proxy of all connections; empty for none. Undefined for HTTPS_PROXY, except for the hosts in NO_PROXY
 * @throws SvcError `invalid_option` unless it is an http: or https: URL
 */
export function proxyChoice(option: string | URL | undefined, env: Environment = process.env): ProxyFor {
  const given = option === undefined ? fromEnvironment(env, 'https_proxy') : String(option)
  if (given === '') return () => undefined
  const proxy = parseProxy(given, option === undefined ? 'HTTPS_PROXY' : 'proxy')
  const spared = option === undefined ? fromEnvironment(env, 'no_proxy').split(/[\s,]+/) : []
  return (url) => (spared.some((entry) => isMeant(entry, url)) ? undefined : proxy)
}

/**
 * Opens a connection to the host of `url` through a proxy, with half-close.
 * @throws SvcError `relay_unreachable`
 */
export function openThrough(proxy: URL, url: URL, signal?: AbortSignal): Promise<Tunnel> {
  const { raw, socket: toProxy } = connectTo(proxy)
  const authority = `${url.hostname}:${url.port || HTTPS_PORT}`
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: unknown): void => {
      settle()
      toProxy.destroy()
      raw.destroy()
      reject(
        new SvcError('relay_unreachable', `no way to ${url.host} through the proxy ${proxy.host}: ${why}`, {
          cause,
        }),
      )
    }
    const giveUp = (): void => fail('no answer in time')
    const deadline = setTimeout(giveUp, DIAL_DEADLINE_MS)
    const settle = (): void => {
      clearTimeout(deadline)
      signal?.removeEventListener('abort', giveUp)
    }
    signal?.addEventListener('abort', giveUp, { once: true })
    if (signal?.aborted) return giveUp()
    const asked = request({
      method: 'CONNECT',
      createConnection: () => toProxy,
      path: authority,
      headers: { Host: authority, ...credentialsOf(proxy) },
    })
    asked.on('error', (error) => fail(error.message, error))
    asked.on('response', ({ statusCode }) => fail(`it answered ${statusCode}`))
    asked.on('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
      if (statusCode === PROXY_AUTHENTICATION_REQUIRED)
        return fail('it requires a user name and password: put them into its URL')
      if (statusCode !== OK) return fail(`it answered ${statusCode}`)
      settle()
      if (head.length > 0) socket.unshift(head)
      // The connection over it gets the same error and has a listener.
      socket.on('error', () => {})
      resolve({ raw, socket })
    })
    asked.end()
  })
}

function connectTo(proxy: URL): Tunnel {
  const isSecure = proxy.protocol === 'https:'
  const host = bare(proxy.hostname)
  const raw = open({
    host,
    port: Number(proxy.port || (isSecure ? HTTPS_PORT : 80)),
    allowHalfOpen: true,
    noDelay: true,
    lookup: localhostLookup,
    autoSelectFamilyAttemptTimeout: ADDRESS_DEADLINE_MS,
  })
  if (!isSecure) return { raw, socket: raw }
  raw.on('error', () => {})
  const options = { socket: raw, host, allowHalfOpen: true, ALPNProtocols: ['http/1.1'] }
  return { raw, socket: connect({ ...options, ...(isIP(host) === 0 && { servername: host }) }) }
}

function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'Proxy-Authorization': `Basic ${Buffer.from(pair).toString('base64')}` }
}

/** The lower-case name takes precedence, as in other programs. */
function fromEnvironment(env: Environment, name: string): string {
  return env[name] ?? env[name.toUpperCase()] ?? ''
}

function parseProxy(given: string, source: string): URL {
  const url = URL.parse(given.includes('://') ? given : `http://${given}`)
  if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:')) return url
  // The value may contain a password.
  throw new SvcError('invalid_option', `${source} must be the http: or https: URL of an HTTP proxy`)
}

/** Returns whether an entry of NO_PROXY matches a host: a name and those below it, an address, a network, or `*` for all. */
function isMeant(entry: string, { hostname, port }: URL): boolean {
  const host = bare(hostname).toLowerCase()
  const [, pattern = '', only] =
    /^\[?(.*?)\]?(?::(\d{1,5}))?$/.exec(isIPv6(entry) ? `[${entry}]` : entry.toLowerCase()) ?? []
  if (pattern === '' || (only !== undefined && Number(only) !== Number(port || HTTPS_PORT))) return false
  if (pattern === '*') return true
  if (isIP(host) !== 0) return isInNetwork(host, pattern)
  const name = pattern.replace(/^\*?\./, '')
  return host === name || host.endsWith(`.${name}`)
}

function isInNetwork(address: string, pattern: string): boolean {
  const [network = '', bits] = pattern.split('/')
  const family = isIPv6(network) ? 'ipv6' : 'ipv4'
  if (isIP(network) === 0) return false
  const list = new BlockList()
  try {
    if (bits === undefined) list.addAddress(network, family)
    else list.addSubnet(network, Number(bits), family)
    return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
  } catch {
    return false
  }
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}
