// Reads what a visitor of a dedicated TCP port sends first: the hostname that it names, when it begins like HTTP/1 or TLS.

import { ClientHelloReader, parseClientHello } from '@svc/tls/messages'

/**
 * What the relay holds of a visitor's request line and fields, or ClientHello, at a dedicated TCP port until a hostname is there:
 * servers read no longer heads.
 */
export const FIRST_BYTES_HELD_MAX: number = 16 * 1024

/**
 * What the first bytes say.
 * - `more`: nothing yet, and they may be anything: they are passed on as they come
 * - `hold`: they begin like HTTP or TLS, and the hostname is still to come
 * - `wait`: they begin like an answer, and the other side has asked nothing yet
 * - `pass`: they name no hostname that is refused, or are another protocol
 * - `refuse`: they name such a hostname, or more comes before it than servers read
 */
export type FirstBytesVerdict = 'more' | 'hold' | 'wait' | 'pass' | 'refuse'

/** A request line as far as no other protocol shares it: a method, a space, and how targets begin. */
const HTTP = /^[!#$%&'*+.^_`|~\w-]{1,32} (?:\/|https?:\/\/)/i
/** What may still become one. */
const HTTP_PREFIX = /^[!#$%&'*+.^_`|~\w-]{1,32}(?: (?:h(?:t(?:t(?:p(?:s?(?::\/?)?)?)?)?)?)?)?$/i
const HTTP_VERSION = /^HTTP\/1\.\d\r?$/
const AUTHORITY = /^https?:\/\/([^/?#]*)/i
const HOST_FIELD = /^host:[ \t]*(\S*)/i
/** The type of a handshake record, and the first byte of its version (RFC 8446 §5.1). */
const TLS = '\x16\x03'

/**
 * Reads the first bytes of a visitor until they have decided. A browser names there the host by which it came. No browser speaks
 * HTTP/2 without TLS, and none has cookies for HTTP/0.9.
 */
export class FirstBytes {
  readonly #isRefused: (hostname: string) => boolean
  #start = ''
  /** Undefined while the protocol is not known. */
  #judge: ((bytes: Uint8Array) => FirstBytesVerdict) | undefined

  /** @param isRefused asked with a hostname in lower case, without port and final dot */
  constructor(isRefused: (hostname: string) => boolean) {
    this.#isRefused = isRefused
  }

  /** @param bytes those that follow the ones of the last call; none is kept after `pass` and `refuse` */
  push(bytes: Uint8Array): FirstBytesVerdict {
    if (this.#judge !== undefined) return this.#judge(bytes)
    this.#start += latin1(bytes)
    if (this.#start.startsWith(TLS)) this.#judge = this.#tls()
    else if (HTTP.test(this.#start)) this.#judge = this.#http()
    else return TLS.startsWith(this.#start) || HTTP_PREFIX.test(this.#start) ? 'more' : 'pass'
    return this.#judge(Buffer.from(this.#start, 'latin1'))
  }

  #http(): (bytes: Uint8Array) => FirstBytesVerdict {
    /** What has come of the present line. */
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
        // No server of TLS takes it for a ClientHello either.
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
 * Reads what the site sends before its visitor: a browser takes an answer to a request that it has not sent yet. It is enough to
 * keep back what browsers take for an answer of HTTP: some skip up to four bytes before it.
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
