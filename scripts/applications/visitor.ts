// A visitor of an exposed application, as a browser: cookies, the fields of same-origin requests, redirects and WebSockets.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { Duplex } from 'node:stream'

const ANSWER_TIMEOUT_MS = 60_000
/** RFC 6455 §4.2.2. */
const WEBSOCKET_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

export interface Answer {
  status: number
  headers: IncomingMessage['headers']
  text: string
}

interface Ask {
  method?: string
  headers?: Record<string, string>
  body?: string | Buffer
}

export class Visitor {
  readonly url: URL
  /** The authority of the relay. */
  readonly ca: Buffer
  /** The port of the relay. */
  readonly port: number
  readonly #cookies: Map<string, string> = new Map()

  constructor(url: string, port: number, ca: Buffer) {
    this.url = new URL(url)
    this.port = port
    this.ca = ca
  }

  cookie(name: string): string | undefined {
    return this.#cookies.get(name)
  }

  async ask(target: string, { method = 'GET', headers = {}, body }: Ask = {}): Promise<Answer> {
    const asked = this.#request(target, method, headers)
    const answered = once(asked, 'response')
    asked.end(body)
    const [response] = (await answered) as [IncomingMessage]
    this.#keepCookies(response)
    const pieces: Buffer[] = []
    for await (const piece of response) pieces.push(piece)
    return { status: response.statusCode!, headers: response.headers, text: String(Buffer.concat(pieces)) }
  }

  /** @throws Error unless the answer has the status, and the text where one is given */
  async expect(status: number, text: string | RegExp, target: string, ask: Ask = {}): Promise<Answer> {
    const answer = await this.ask(target, ask)
    const isRight =
      answer.status === status &&
      (typeof text === 'string' ? answer.text.includes(text) : text.test(answer.text))
    if (isRight) return answer
    const came = answer.text.replaceAll(/\s+/g, ' ').slice(0, 200)
    throw new Error(
      `${ask.method ?? 'GET'} ${target}: ${answer.status} in place of ${status} with ${text}: ${came}`,
    )
  }

  page(target: string, text: string | RegExp): Promise<Answer> {
    return this.expect(200, text, target)
  }

  /** Asks for what leads elsewhere. @throws Error unless it leads to `to` at the site, by whatever form of URL */
  async redirect(target: string, to: string, ask: Ask = {}): Promise<void> {
    const { status, headers } = await this.ask(target, ask)
    const { location = '' } = headers
    const isRight =
      status >= 300 &&
      status < 400 &&
      new URL(location, new URL(target, this.url)).href === new URL(to, this.url).href
    if (!isRight) throw new Error(`${target}: ${status} to ${JSON.stringify(location)} in place of ${to}`)
  }

  /** Posts a form of the site's own page. */
  form(
    target: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Ask & { target: string } {
    return {
      target,
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        ...this.#sameOrigin(target),
        ...headers,
      },
      body: String(new URLSearchParams(fields)),
    }
  }

  /** Opens a WebSocket of the site's own page, and has `text` echoed. @throws Error when that fails */
  async echo(
    target: string,
    text: string,
    isEcho: (came: string) => boolean = (came) => came === text,
    headers: Record<string, string> = {},
  ): Promise<IncomingMessage> {
    const key = Buffer.from('the same for all').toString('base64')
    const asked = this.#request(target, 'GET', {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': key,
      Origin: this.url.origin,
      ...headers,
    })
    asked.end()
    const refused = once(asked, 'response').then(([response]) => {
      throw new Error(`${target}: ${response.statusCode} in place of a WebSocket`)
    })
    const opened = await Promise.race([once(asked, 'upgrade'), refused])
    refused.catch(() => {})
    const [response, socket, head] = opened as [IncomingMessage, Duplex, Buffer]
    const accept = createHash('sha1')
      .update(key + WEBSOCKET_GUID)
      .digest('base64')
    if (response.headers['sec-websocket-accept'] !== accept) throw new Error(`${target}: a wrong handshake`)
    socket.unshift(head)
    socket.write(frameOf(text))
    let came = Buffer.alloc(0)
    let isRight = false
    for await (const bytes of socket) {
      came = Buffer.concat([came, bytes])
      isRight = messagesIn(came).some(isEcho)
      if (isRight) break
    }
    socket.destroy()
    if (!isRight) throw new Error(`${target}: no echo in ${JSON.stringify(messagesIn(came))}`)
    return response
  }

  #sameOrigin(target: string): Record<string, string> {
    return {
      Origin: this.url.origin,
      Referer: new URL(target, this.url).href,
      'Sec-Fetch-Site': 'same-origin',
      'Sec-Fetch-Mode': 'navigate',
    }
  }

  #request(target: string, method: string, headers: Record<string, string>) {
    const { hostname, host } = this.url
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const asked = request({
      host: '127.0.0.1',
      port: this.port,
      servername: hostname,
      ca: this.ca,
      agent: false,
      timeout: ANSWER_TIMEOUT_MS,
      path: target,
      method,
      headers: {
        Host: host,
        Accept: 'text/html,*/*',
        'User-Agent': 'Mozilla/5.0',
        ...(cookie && { Cookie: cookie }),
        ...headers,
      },
    })
    return asked.on('timeout', () => asked.destroy(new Error('no answer in time')))
  }

  #keepCookies({ headers }: IncomingMessage): void {
    for (const line of headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      const domain = /;\s*domain=([^;]+)/i.exec(line)?.[1]
      if (domain !== undefined && !this.url.hostname.endsWith(domain.replace(/^\./, ''))) continue
      this.#cookies.set(name, value)
    }
  }
}

/** A text message of less than 126 bytes, masked with zeros (RFC 6455 §5.2). */
function frameOf(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from([0x81, 0x80 | bytes.length, 0, 0, 0, 0]), bytes])
}

/** The short messages of a server. */
function messagesIn(bytes: Buffer): string[] {
  const messages: string[] = []
  for (let at = 0; at + 2 <= bytes.length; ) {
    const isLong = bytes[at + 1] === 126
    const length = isLong ? bytes.readUInt16BE(at + 2) : bytes[at + 1]!
    at += isLong ? 4 : 2
    messages.push(String(bytes.subarray(at, at + length)))
    at += length
  }
  return messages
}
