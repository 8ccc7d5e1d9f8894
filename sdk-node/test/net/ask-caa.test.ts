// CAA records by the system's resolver, with a DNS server that writes the tags as their owners may (RFC 8659 §4.1).

import { createSocket } from 'node:dgram'
import { getServers, setServers } from 'node:dns'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { askCaa } from '../../src/net/ask-caa.ts'

const HEADER_BYTES = 12
const CAA = 257
const RECORDS: readonly [tag: string, value: string][] = [
  ['issue', 'letsencrypt.org; accounturi=https://acme.test/1'],
  ['ISSUE', 'other.test'],
  ['Issue', ';'],
  ['iodef', 'mailto:a@shop.test'],
]

const server = createSocket('udp4')
const usual = getServers()
beforeAll(async () => {
  server.on('message', (query, { port }) => server.send(answerTo(query), port, '127.0.0.1'))
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  setServers([`127.0.0.1:${server.address().port}`])
})
afterAll(() => {
  setServers(usual)
  server.close()
})

it('finds each issue property, in whatever case its tag is written', async () => {
  const { isAlias, issue } = await askCaa('shop.test', AbortSignal.timeout(10_000))
  expect(isAlias).toBe(false)
  expect(issue).toEqual(['letsencrypt.org; accounturi=https://acme.test/1', 'other.test', ';'])
})

/** The records for a question about CAA, none for others. */
function answerTo(query: Buffer): Buffer {
  const questionEnd = query.indexOf(0, HEADER_BYTES) + 5
  const answers =
    query.readUInt16BE(questionEnd - 4) === CAA ? RECORDS.map(([tag, value]) => record(tag, value)) : []
  const header = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, answers.length, 0, 0, 0, 0])
  return Buffer.concat([header, query.subarray(HEADER_BYTES, questionEnd), ...answers])
}

function record(tag: string, value: string): Buffer {
  const data = Buffer.from(`\0${String.fromCharCode(tag.length)}${tag}${value}`)
  // The name of the question, type, class, a minute, and the length.
  return Buffer.concat([Buffer.from([0xc0, HEADER_BYTES, 1, 1, 0, 1, 0, 0, 0, 60, 0, data.length]), data])
}
