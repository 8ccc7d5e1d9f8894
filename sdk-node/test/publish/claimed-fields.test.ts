// What visitors claim in fields that servers believe does not reach the handler of `publish`, by any protocol, at a real relay.

import { once } from 'node:events'
import { connect } from 'node:http2'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { useStarted } from '../../../tools/use-started.ts'
import { publish, type Site } from '../../src/index.ts'
import { text, visit } from '../support/exposed.ts'
import { startTestRelay } from '../support/relay.ts'

const CLAIMS = Object.fromEntries(
  ['x-svc-wallet', 'remote-user', 'remote_user', 'x-forwarded-for', 'x-webauth-user', 'proxy', 'x-kept'].map(
    (name) => [name, 'claimed'],
  ),
)

let sites: Site[]
const relay = useStarted(startTestRelay)
beforeAll(async () => {
  const start = (number: number, allowFields?: string[]): Promise<Site> =>
    publish({
      relay: relay.origin,
      ca: relay.ca,
      name: `claims-${number}`,
      identity: new Uint8Array(32).fill(number),
      allowFields,
      fetch: (request, { upgrade }) => {
        const names = [...request.headers].filter(([, value]) => value === 'claimed').map(([name]) => name)
        if (request.headers.get('upgrade') !== 'websocket') return Response.json(names.toSorted())
        const { socket, response } = upgrade(request)
        socket.onopen = () => socket.send(JSON.stringify(names.toSorted()))
        return response
      },
    })
  sites = [await start(1), await start(2, ['Remote-User', 'x-forwarded-for'])]
})
afterAll(() => Promise.all(sites.map((site) => site.close())))

const WAYS: Record<string, (url: string) => Promise<string>> = {
  'HTTP/1.1': async (url) => text(await visit(relay, url, '/', { headers: CLAIMS })),
  'HTTP/2': async (url) => {
    const { host, hostname } = new URL(url)
    const session = connect(`https://127.0.0.1:${relay.port}`, { servername: hostname, ca: relay.ca })
    const answer = session.request({ ':authority': host, ...CLAIMS }).setEncoding('utf8')
    const parts = await answer.toArray()
    session.close()
    return parts.join('')
  },
  'a WebSocket': async (url) => {
    const { host, hostname } = new URL(url)
    const options = { servername: hostname, ca: relay.ca, headers: { ...CLAIMS, host } }
    const socket = new WebSocket(`wss://127.0.0.1:${relay.port}/`, [], options)
    const [message] = await once(socket, 'message')
    socket.close()
    return String(message)
  },
}

it.each(Object.keys(WAYS))('they are removed by %s, but those that the site allows', async (way) => {
  expect(JSON.parse(await WAYS[way]!(sites[0]!.url))).toEqual(['x-kept'])
  expect(JSON.parse(await WAYS[way]!(sites[1]!.url))).toEqual(['remote-user', 'x-forwarded-for', 'x-kept'])
})
