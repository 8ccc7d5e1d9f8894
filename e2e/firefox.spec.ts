// The Firefox of this machine: a page in it publishes, it visits, and it shows the relay's own pages.
import { randomBytes } from 'node:crypto'
import { type Firefox, findFirefox, startFirefox } from '../tools/browser/firefox.ts'
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect } from './fixtures.ts'

const command = (await findFirefox())?.command

const test = base.extend<{ firefox: Firefox }>({
  firefox: async ({ relay, oncePerFile }, use) => {
    const { firefox } = await oncePerFile('Firefox', async () => {
      const firefox = await startFirefox(command!, relay.caFile)
      return { firefox, stop: () => firefox.close() }
    })
    await use(firefox)
  },
})

test.skip(command === undefined, 'there is no Firefox here: apt-get install firefox-esr')

test('a page in Firefox publishes: curl and Firefox itself get its answer', async ({
  firefox,
  relay,
  pageServer,
}) => {
  const tenant = await firefox.newPage()
  await tenant.goto(pageServer.url)
  const name = `fox-${randomBytes(4).toString('hex')}`
  const published = await tenant.evaluate(
    async (relayUrl, name) => {
      const html = { 'Content-Type': 'text/html' }
      const fetch = async (request: Request): Promise<Response> => {
        const body = await request.arrayBuffer()
        return new Response(`<title>Mine</title><h1>${request.method} of ${body.byteLength}</h1>`, {
          headers: html,
        })
      }
      const { url, state } = await svc.publish({ relay: relayUrl, name, fetch })
      return { url, state }
    },
    relay.url,
    name,
  )
  expect(published).toEqual({ url: relay.url.replace('relay.', `${name}.relay.`), state: 'online' })

  expect(String(await curl(relay.caFile, published.url))).toContain('GET of 0')
  expect(String(await curl(relay.caFile, '--data', 'a body', published.url))).toContain('POST of 6')
  const visitor = await firefox.newPage()
  await visitor.goto(published.url)
  expect(await visitor.evaluate(() => document.querySelector('h1')?.textContent)).toBe('GET of 0')
  expect(await visitor.evaluate(() => isSecureContext)).toBe(true)
  const posted = await visitor.evaluate(async () => {
    const response = await fetch('/', { method: 'POST', body: new Uint8Array(1_000_000) })
    return response.text()
  })
  expect(posted).toContain('POST of 1000000')
  expect(tenant.errors).toEqual([])
})

wholeOnly(test, 'variant')(
  'a wrong Content-Length is the same error in Firefox and in Chromium',
  async ({ firefox, relay, tenant, pageServer }) => {
    const publish = async ([relay, name]: string[]): Promise<string> => {
      const fetch = (request: Request): Response => {
        const [, kind, length = ''] = new URL(request.url).pathname.split('/')
        const body = kind === 'blob' ? new Blob(['hello']) : 'hello'
        return new Response(kind === 'stream' ? new Response(body).body : body, {
          headers: { 'Content-Length': length },
        })
      }
      return (await svc.publish({ relay: relay!, name: name!, fetch })).url
    }
    const fox = await firefox.newPage()
    await fox.goto(pageServer.url)
    const urls = [
      await fox.evaluate(publish, [relay.url, 'length-fox']),
      await tenant.evaluate(publish, [relay.url, 'length-chromium']),
    ]
    for (const kind of ['text', 'blob', 'stream'])
      for (const [length, status] of Object.entries({ 3: 500, 5: 200, 9: 500 }))
        for (const url of urls) {
          const answer = await curl(relay.caFile, '-w', '%{http_code}', `${url}/${kind}/${length}`)
          expect(String(answer), `${url} ${kind} ${length}`).toBe(
            `${status === 200 ? 'hello' : 'Internal Server Error'}${status}`,
          )
        }
  },
)

wholeOnly(test, 'variant')('Firefox shows the relay’s own pages', async ({ firefox, relay }) => {
  const page = await firefox.newPage()
  for (const route of ['/', '/sites', '/admin']) {
    await page.goto(relay.url + route)
    await expect.poll(() => page.evaluate(() => document.querySelector('h1')?.textContent ?? '')).not.toBe('')
  }
  expect(page.errors).toEqual([])
})
