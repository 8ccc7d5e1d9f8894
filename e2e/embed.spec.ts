// A page of another origin that has no build: it takes the SDK from the relay, with one line, and publishes.

import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect } from './fixtures.ts'
import { serveHtml } from './support/origin.ts'

interface Embedding {
  page: Page
  /** Paths of what the page loaded from the relay, in order. */
  loaded: string[]
  /** The messages of the page's console and its uncaught errors. */
  errors: string[]
}

const test = base.extend<{ embed(html: string, headers?: Record<string, string>): Promise<Embedding> }>({
  embed: async ({ browser, relay }, use) => {
    const context = await browser.newContext()
    const origins: { close(): Promise<void> }[] = []
    await use(async (html, headers) => {
      const origin = await serveHtml(html, headers)
      origins.push(origin)
      const page = await context.newPage()
      const loaded: string[] = []
      const errors: string[] = []
      page.on('request', (request) => {
        if (request.resourceType() === 'script' && request.url().startsWith(relay.url))
          loaded.push(request.url().slice(relay.url.length))
      })
      page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
      page.on('pageerror', (error) => errors.push(error.message))
      await page.goto(origin.url)
      return { page, loaded, errors }
    })
    await context.close()
    for (const origin of origins) await origin.close()
  },
})

/** A module that publishes, and shows its address. */
const publishing = (relay: string, name: string, specifier: string): string => `<script type="module">
  import { publish } from '${specifier}'
  const site = await publish({ relay: '${relay}', name: '${name}', fetch: () => new Response('from one line\\n') })
  document.title = site.url
</script>`

async function siteOf(page: Page): Promise<string> {
  await expect(page).toHaveTitle(/^https:/)
  return await page.title()
}

test('one line brings `publish`, at once what is needed at once, and later what a visitor needs', async ({
  embed,
  relay,
}) => {
  const { page, loaded, errors } = await embed(publishing(relay.url, 'one-line', `${relay.url}/sdk.js`))
  const url = await siteOf(page)
  const entry = String(await curl(relay.caFile, `${relay.url}/sdk.js`))
  const atOnce = ['/sdk.js', ...[...entry.matchAll(/'(\/[^']+)'/g)].map(([, file]) => file)]
  expect(loaded.slice(0, atOnce.length).toSorted()).toEqual(atOnce.toSorted())
  expect(String(await curl(relay.caFile, '--http2', url))).toBe('from one line\n')
  const later = loaded.slice(atOnce.length)
  expect(later).toContainEqual(expect.stringMatching(/^\/sdk\/modules\/connection-[\w-]{8}\.js$/))
  const { integrity } = JSON.parse(String(await curl(relay.caFile, `${relay.url}/sdk/importmap.json`)))
  expect(loaded.length).toBeLessThan(Object.keys(integrity).length)
  expect(errors).toEqual([])
})

wholeOnly(test, 'variant')(
  'by whichever path it is imported, the page has one SDK, whose later modules come from the relay',
  async ({ embed, relay }) => {
    const { page, loaded, errors } = await embed(
      publishing(relay.url, 'js-wasm', `${relay.url}/api/install/bin/js-wasm`),
    )
    expect(String(await curl(relay.caFile, '--http2', await siteOf(page)))).toBe('from one line\n')
    expect(loaded.filter((file) => !file.startsWith('/sdk/modules/'))).toEqual(['/api/install/bin/js-wasm'])
    const isSame = await page.evaluate(
      async (urls) => {
        const [one, other] = await Promise.all(urls.map((url) => import(url)))
        return one.publish === other.publish && one.SvcError === other.SvcError
      },
      [`${relay.url}/api/install/bin/js-wasm`, `${relay.url}/sdk.js`],
    )
    expect(isSame).toBe(true)
    expect(errors).toEqual([])
  },
)

test('a page without modules has `globalThis.svc`, also where it is isolated from other origins', async ({
  embed,
  relay,
}) => {
  const html = `<script src="${relay.url}/api/install/bin/wasm-exec"></script>
<script>
  svc.publish({ relay: '${relay.url}', name: 'classic-script', fetch: function () { return new Response('from a script\\n') } })
    .then(function (site) { document.title = site.url })
</script>`
  const isolated = {
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Embedder-Policy': 'require-corp',
  }
  const { page, errors } = await embed(html, isolated)
  expect(String(await curl(relay.caFile, await siteOf(page)))).toBe('from a script\n')
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(true)
  const code = await page.evaluate(async () => {
    const { svc } = globalThis as unknown as { svc: { publish(options: object): Promise<never> } }
    return await svc.publish({ relay: 'nowhere' }).catch((error) => error.code)
  })
  expect(code).toBe('invalid_option')
  expect(errors).toEqual([])
})

wholeOnly(test, 'variant')('a classic worker has it, too', async ({ embed, relay }) => {
  const worker = `importScripts('${relay.url}/api/install/bin/wasm-exec')
svc.publish({ relay: '${relay.url}', name: 'classic-worker', fetch: () => new Response('from a worker\\n') })
  .then((site) => postMessage(site.url))`
  const { page } = await embed(`<script>
  const code = new Blob([${JSON.stringify(worker)}], { type: 'text/javascript' })
  new Worker(URL.createObjectURL(code)).onmessage = ({ data }) => { document.title = data }
</script>`)
  expect(String(await curl(relay.caFile, await siteOf(page)))).toBe('from a worker\n')
})

wholeOnly(test, 'variant')(
  'the import map of the relay pins each file: as it is the page publishes, and a wrong value is refused',
  async ({ embed, relay }) => {
    const text = String(await curl(relay.caFile, `${relay.url}/sdk/importmap.json`))
    const page = (map: string, name: string): string =>
      `<script type="importmap">${map}</script>${publishing(relay.url, name, '@svc/sdk-browser')}`
    const pinned = await embed(page(text, 'pinned'))
    expect(String(await curl(relay.caFile, '--http2', await siteOf(pinned.page)))).toBe('from one line\n')
    expect(pinned.errors).toEqual([])

    const { integrity } = JSON.parse(text) as { integrity: Record<string, string> }
    const urls = Object.keys(integrity)
    for (const needed of [/\/sdk\.js\?version=/, /\/modules\/sdk-/]) {
      const url = urls.find((one) => needed.test(one)) ?? ''
      const refused = await embed(page(text.replace(integrity[url] ?? '', wrong(integrity[url])), 'refused'))
      await expect.poll(() => refused.errors.join()).toMatch(/integrity/i)
      expect(await refused.page.title()).toBe('embedded')
    }

    // The browser loads the module for a visitor's WebSocket later, and checks that one, too.
    const later = urls.find((one) => /\/connection-/.test(one)) ?? ''
    const refused = await embed(page(text.replace(integrity[later] ?? '', wrong(integrity[later])), 'later'))
    await siteOf(refused.page)
    await refused.page.evaluate((url) => import(url).catch(() => {}), later)
    await expect.poll(() => refused.errors.join()).toMatch(/integrity/i)
  },
)

wholeOnly(test, 'variant')('the SDK of another release does not load', async ({ embed, relay }) => {
  const { page } = await embed('')
  const load = (url: string) =>
    page.evaluate(
      (one) =>
        import(one).then(
          () => true,
          () => false,
        ),
      url,
    )
  expect(await load(`${relay.url}/sdk.js?version=0.0.0`)).toBe(false)
  const { version } = JSON.parse(await readFile(path.resolve(import.meta.dirname, '../package.json'), 'utf8'))
  expect(await load(`${relay.url}/sdk.js?version=${version}`)).toBe(true)
})

wholeOnly(test, 'variant')(
  'the code on the landing page does what it says for everybody who copies it, and shows what went wrong',
  async ({ browser, embed, relay }) => {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
    const landing = await context.newPage()
    await landing.goto(relay.url)
    await landing.getByRole('button', { name: 'Copy the code' }).click()
    const code = await landing.evaluate(() => navigator.clipboard.readText())
    await context.close()
    expect(code).toContain(`import { publish } from '${relay.url}/sdk.js'`)
    const { page, errors } = await embed(code)
    const shown = async (): Promise<string> => {
      await expect(page.locator('body')).toContainText('https://svc-')
      return page.locator('body').innerText()
    }
    const url = await shown()
    expect(String(await curl(relay.caFile, url))).toBe('Hello\n')
    const another = await browser.newContext()
    const other = await another.newPage()
    await other.goto(page.url())
    await expect(other.locator('body')).toContainText('https://svc-')
    expect(await other.locator('body').innerText()).not.toBe(url)
    await another.close()
    await page.reload()
    expect(await shown()).toBe(url)
    expect(errors).toEqual([])
    const wrong = await embed(code.replace(`relay: '${relay.url}'`, "relay: 'nowhere'"))
    await expect(wrong.page.locator('body')).toContainText('relay "nowhere" is not a URL')
  },
)

/** A digest of the right form for a file that nobody has. */
function wrong(digest = ''): string {
  return digest.replace(/^sha384-.{8}/, 'sha384-00000000')
}
