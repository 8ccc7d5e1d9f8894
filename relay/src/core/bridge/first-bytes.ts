// Parses the first bytes of a visitor at a dedicated TCP port, to find the hostname that HTTP/1 or TLS names.

import { ClientHelloReader, parseClientHello } from '@svc/tls/messages'

/**
 * Bytes of a request head or ClientHello that the relay buffers at a dedicated TCP port until it has the hostname.
 * Servers accept no longer heads.
 */
export const FIRST_BYTES_HELD_MAX: number = 16 * 1024

/**
 * What to do with the bytes so far.
 * - `more`: undecided; pass them on as they arrive
 * - `hold`: they begin like HTTP or TLS; wait for the hostname
 * - `wait`: they begin like a response, and the other side has sent no request yet
 * - `pass`: they name an allowed hostname, or are another protocol
 * - `refuse`: they name a refused hostname, or the head before it is too long
 */
export type FirstBytesVerdict = 'more' | 'hold' | 'wait' | 'pass' | 'refuse'

/** The start of a request line that no other protocol shares: a method, a space, and the start of a target. */
const HTTP = /^[!#$%&'*+.^_`|~\w-]{1,32} (?:\/|https?:\/\/)/i
/** A prefix of such a start. */
const HTTP_PREFIX = /^[!#$%&'*+.^_`|~\w-]{1,32}(?: (?:h(?:t(?:t(?:p(?:s?(?::\/?)?)?)?)?)?)?)?$/i
const HTTP_VERSION = /^HTTP\/1\.\d\r?$/
const AUTHORITY = /^https?:\/\/([^/?#]*)/i
const HOST_FIELD = /^host:[ \t]*(\S*)/i
/** The type of a handshake record, and the first byte of its version (RFC 8446 §5.1). */
const TLS = '\x16\x03'

/**
 * Parses the first bytes of a visitor until a decision. A browser names its host there. No browser speaks HTTP/2
 * without TLS, or sends cookies with HTTP/0.9.
 */
export class FirstBytes {
  readonly #isRefused: (hostname: string) => boolean
  #start = ''
  /** Undefined while the protocol is unknown. */
  #judge: ((bytes: Uint8Array) => FirstBytesVerdict) | undefined

  /** @param isRefused asked with a hostname in lower case, without port and final dot */
  constructor(isRefused: (hostname: string) => boolean) {
    this.#isRefused = isRefused
  }

  /** @param bytes that follow those of the last call; nothing is buffered after `pass` or `refuse` */
  push(bytes: Uint8Array): FirstBytesVerdict {
    if (this.#judge !== undefined) return this.#judge(bytes)
    this.#start += latin1(bytes)
    if (this.#start.startsWith(TLS)) this.#judge = this.#tls()
    else if (HTTP.test(this.#start)) this.#judge = this.#http()
    else return TLS.startsWith(this.#start) || HTTP_PREFIX.test(this.#start) ? 'more' : 'pass'
    return this.#judge(Buffer.from(this.#start, 'latin1'))
  }

  #http(): (bytes: Uint8Array) => FirstBytesVerdict {
    /** The current line so far. */
    const parts: string[] = []
    let size = 0
    let isFirst = true
    return (bytes) => {
      const text = latin1(bytes)
      size += text.length
      parts.push(text)
      if (text.includes('\n')) {
        const lines = parts.splice(0).join('').split('\n')
        parts.push(lines.pop()!)
        for (const line of lines) {
          const verdict = isFirst ? this.#requestLine(line) : this.#field(line)
          if (verdict !== 'hold') return verdict
          isFirst = false
        }
      }
      return size < FIRST_BYTES_HELD_MAX ? 'hold' : 'refuse'
    }
  }

  #requestLine(line: string): FirstBytesVerdict {
    const [, target = '', version = ''] = line.split(' ', 3)
    if (!HTTP_VERSION.test(version)) return 'pass'
    const authority = AUTHORITY.exec(target)?.[1]
    return authority !== undefined && this.#names(authority) ? 'refuse' : 'hold'
  }

  #field(line: string): FirstBytesVerdict {
    if (line === '' || line === '\r') return 'pass'
    const host = HOST_FIELD.exec(line)?.[1]
    if (host === undefined) return 'hold'
    return this.#names(host) ? 'refuse' : 'pass'
  }

  #tls(): (bytes: Uint8Array) => FirstBytesVerdict {
    const reader = new ClientHelloReader({ maxBytes: FIRST_BYTES_HELD_MAX })
    return (bytes) => {
      try {
        const message = reader.push(bytes)
        if (message === undefined) return 'hold'
        const { serverName } = parseClientHello(message)
        return serverName !== undefined && this.#names(serverName) ? 'refuse' : 'pass'
      } catch {
        // TLS servers do not accept it as a ClientHello either.
        return 'pass'
      }
    }
  }

  #names(authority: string): boolean {
    const host = authority.slice(authority.lastIndexOf('@') + 1).toLowerCase()
    return this.#isRefused(host.replace(/:\d*$/, '').replace(/\.$/, ''))
  }
}

/**
 * Checks what the site sends before its visitor does, since a browser accepts a response before it has sent the
 * request. Only what browsers take for an HTTP response must wait; some browsers skip up to four bytes before it.
 */
export class FirstAnswer {
  #start = ''

  push(bytes: Uint8Array): 'more' | 'wait' | 'pass' {
    this.#start += latin1(bytes.subarray(0, ANSWER_BYTES))
    const start = this.#start.slice(0, ANSWER_BYTES).toLowerCase()
    if (start.includes('http') || start.startsWith('icy ')) return 'wait'
    return start.length < ANSWER_BYTES ? 'more' : 'pass'
  }
}

/** Four bytes to skip, and those of `HTTP`. */
const ANSWER_BYTES = 8

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}
