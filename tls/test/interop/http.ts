// As much of HTTP/1.1 as an exchange needs: one request, one response, lengths given.

import { createHash } from 'node:crypto'

export interface HttpRequest {
  /** Another one will follow on the same connection. */
  more: boolean
  body: Uint8Array
}

const HEAD_END = '\r\n\r\n'
const STATUS_LINE = 'HTTP/1.1 200 OK'

/** Without it the server closes, whatever a browser may ask for. */
const MORE = 'X-More: yes'

export function encodeRequest(upload: Uint8Array | undefined, more = false): Uint8Array {
  const lines = [
    `${upload === undefined ? 'GET' : 'POST'} / HTTP/1.1`,
    'Host: localhost',
    ...(more ? [MORE] : []),
    ...(upload === undefined ? [] : [`Content-Length: ${upload.length}`]),
  ]
  return Buffer.concat([Buffer.from(lines.join('\r\n') + HEAD_END), upload ?? new Uint8Array()])
}

/** Collects what comes, and calls back for each whole request. */
export function requestReader(onRequest: (request: HttpRequest) => void): (bytes: Uint8Array) => void {
  let chunks: Uint8Array[] = []
  let length = 0
  let wanted = 0
  return (bytes) => {
    chunks.push(bytes)
    length += bytes.length
    while (length > 0 && length >= wanted) {
      const all = Buffer.concat(chunks)
      chunks = [all]
      const headEnd = all.indexOf(HEAD_END)
      if (headEnd < 0) return
      const head = all.toString('latin1', 0, headEnd)
      const bodyAt = headEnd + HEAD_END.length
      wanted = bodyAt + contentLength(head)
      if (length < wanted) return
      const body = all.subarray(bodyAt, wanted)
      chunks = [all.subarray(wanted)]
      length -= wanted
      wanted = 0
      onRequest({ more: head.includes(MORE), body })
    }
  }
}

export function encodeResponse(body: Uint8Array, more: boolean): Uint8Array {
  const lines = [
    STATUS_LINE,
    'Content-Type: application/octet-stream',
    'Access-Control-Allow-Origin: *',
    `Connection: ${more ? 'keep-alive' : 'close'}`,
    `Content-Length: ${body.length}`,
  ]
  return Buffer.concat([Buffer.from(lines.join('\r\n') + HEAD_END), body])
}

/** SHA-256 of the body of the last response in what a client printed, whatever it printed around it. */
export function lastBodyDigest(printed: Buffer): string {
  const start = printed.lastIndexOf(STATUS_LINE)
  if (start < 0) return 'no response'
  const headEnd = printed.indexOf(HEAD_END, start)
  const bodyAt = headEnd + HEAD_END.length
  return sha256(printed.subarray(bodyAt, bodyAt + contentLength(printed.toString('latin1', start, headEnd))))
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function contentLength(head: string): number {
  return Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)
}
