// RFC 9112 §11.2 on the way to a target: what two parsers could read in two ways reaches it on neither way.

import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SMUGGLING } from '../../../sdk-core/test/http1/corpus.ts'
import { latin1 } from '../../../sdk-core/test/http1/visitor.ts'
import { listening } from '../support/exposed.ts'
import { TargetVisitor, WAYS } from '../support/ways.ts'

/** The requests that the target, whose parser is Node's, read to their end, with their bodies. */
let seen: string[] = []
const server = createServer(async (asked, response) => {
  const chunks: Buffer[] = []
  asked.on('error', () => {})
  asked.on('data', (chunk) => chunks.push(chunk))
  asked.on('end', () => {
    seen.push(`${asked.method} ${asked.url} ${Buffer.concat(chunks).toString('latin1')}`)
    response.end()
  })
})
let url: string
beforeAll(async () => {
  url = `http://127.0.0.1:${await listening(server)}`
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
})

describe.each(WAYS)('on the way: %s', (way) => {
  async function pass(...parts: Uint8Array[]): Promise<string[]> {
    seen = []
    const visitor = await new TargetVisitor(way, url).send(...parts)
    await visitor.end()
    await visitor.rest().catch(() => {})
    await visitor.served
    return seen
  }

  test.each(Object.entries(SMUGGLING))('%s', async (_, text) => {
    const bytes = latin1.encode(text)
    expect(await pass(bytes)).toEqual([])
    expect(await pass(...Array.from(bytes, (octet) => Uint8Array.of(octet)))).toEqual([])
  })

  test('what is plainly there reaches it, framed anew', async () => {
    const text =
      'POST /a HTTP/1.1\r\nHost: site.example\r\nTransfer-Encoding: chunked\r\n\r\n5;x\r\nhello\r\n0\r\nA: b\r\n\r\n' +
      'PUT /b HTTP/1.1\r\nHost: site.example\r\nContent-Length: 2\r\n\r\nhiGET /c HTTP/1.1\r\nHost: site.example\r\n\r\n'
    seen = []
    const visitor = await new TargetVisitor(way, url).send(text)
    await visitor.receive('200 OK', 3)
    expect(seen).toEqual(['POST /a hello', 'PUT /b hi', 'GET /c '])
  })
})
