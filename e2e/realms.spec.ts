// A page whose Promise a polyfill replaced, and one whose handler uses objects of an iframe: its visitors are served all the same.
import { createRequire } from 'node:module'
import type { Page } from '@playwright/test'
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect, test } from './fixtures.ts'

const ZONE: string = createRequire(import.meta.resolve('zone.js')).resolve('../bundles/zone.umd.js')
const BODY: string = 'x'.repeat(40_000)

/** The handler answers with what came, so that records go both ways. */
function publishEcho(page: Page, relay: string, name: string): Promise<string> {
  const given = { relay, name }
  return page.evaluate(async ({ relay, name }) => {
    const fetch = async (request: Request): Promise<Response> => new Response(await request.text())
    return (await svc.publish({ relay, name, fetch })).url
  }, given)
}

async function expectEcho(caFile: string, url: string, ...args: string[]): Promise<void> {
  expect(String(await curl(caFile, ...args, '--data-binary', BODY, url))).toBe(BODY)
}

/** Async functions of the engine never give an instance of this. */
const replacePromise = (): void => {
  globalThis.Promise = class extends Promise<unknown> {} as PromiseConstructor
}

for (const [what, name, change, atStart, later] of [
  ['zone.js', 'zone', { path: ZONE }, test, wholeOnly(test, 'variant')],
  ['another Promise', 'promise', replacePromise, wholeOnly(test, 'variant'), wholeOnly(test, 'variant')],
] as const) {
  atStart(`a page with ${what} from its beginning serves its visitors`, async ({ relay, tenant }) => {
    await tenant.addInitScript(change)
    await tenant.reload()
    const url = await publishEcho(tenant, relay.url, `${name}-first`)
    await expectEcho(relay.caFile, url, '--http1.1')
    await expectEcho(relay.caFile, url, '--http2')
  })

  later(`a page that loads ${what} while it is online serves its visitors`, async ({ relay, tenant }) => {
    const url = await publishEcho(tenant, relay.url, `${name}-late`)
    await expectEcho(relay.caFile, url)
    if ('path' in change) await tenant.addScriptTag(change)
    else await tenant.evaluate(change)
    await expectEcho(relay.caFile, url, '--http1.1')
    await expectEcho(relay.caFile, url, '--http2')
  })
}

wholeOnly(test, 'variant')(
  'a handler answers with objects of an iframe',
  async ({ relay, tenant, visitor }) => {
    const url = await tenant.evaluate(async (relay) => {
      const frame = document.createElement('iframe')
      document.body.append(frame)
      const realm = frame.contentWindow as Window & typeof globalThis
      const bytes = (text: string) => realm.Uint8Array.from(new TextEncoder().encode(text))
      const stream = (text: string) =>
        new realm.ReadableStream({
          start(controller) {
            controller.enqueue(bytes(text))
            controller.close()
          },
        })
      const site = await svc.publish({
        relay,
        name: 'iframe',
        identity: realm.Uint8Array.from({ length: 32 }, () => 7),
        fetch: (request, info) => {
          const { pathname } = new URL(request.url)
          if (pathname === '/response')
            return new realm.Response(stream('of the iframe'), { headers: { 'X-Realm': 'other' } })
          if (pathname === '/bytes') return new Response(stream('bytes of the iframe'))
          if (request.headers.get('upgrade') === null) return new Response('a page')
          const { socket, response } = info.upgrade(request)
          socket.onopen = () => {
            socket.send(bytes('a view').buffer)
            socket.send(bytes('an array'))
            socket.send(new realm.Blob(['a blob']))
          }
          return response
        },
      })
      return site.url
    }, relay.url)
    expect(String(await curl(relay.caFile, '-i', `${url}/response`))).toMatch(
      /x-realm: other.*of the iframe$/is,
    )
    expect(String(await curl(relay.caFile, `${url}/bytes`))).toBe('bytes of the iframe')
    await visitor.goto(url)
    const messages = await visitor.evaluate(async () => {
      const socket = new WebSocket(location.origin.replace('https:', 'wss:'))
      socket.binaryType = 'arraybuffer'
      const messages: string[] = []
      await new Promise<void>((resolve) => {
        socket.onmessage = ({ data }) => {
          messages.push(typeof data === 'string' ? `text: ${data}` : new TextDecoder().decode(data))
          if (messages.length === 3) resolve()
        }
      })
      return messages
    })
    expect(messages).toEqual(['a view', 'an array', 'a blob'])
  },
)
