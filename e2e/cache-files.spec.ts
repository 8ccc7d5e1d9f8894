// Files of a page at a relay with a static cache, from what a browser has them in: a folder handle, and a folder input.

import { mkdir, writeFile } from 'node:fs/promises'
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect, relayWith } from './fixtures.ts'

const test = base.extend({
  relay: relayWith({ STATIC_CACHE_ENABLED: 'true' }),
})

test('a folder handle is stored with what is below it, changes are followed, and it goes with remove()', async ({
  tenant,
  relay,
}) => {
  const url = await tenant.evaluate(async (relay) => {
    const root = await navigator.storage.getDirectory()
    const write = async (folder: FileSystemDirectoryHandle, name: string, text: string): Promise<void> => {
      const file = await folder.getFileHandle(name, { create: true })
      const stream = await file.createWritable()
      await stream.write(text)
      await stream.close()
    }
    await write(root, 'index.html', '<h1>hello</h1>')
    await write(root, '.env', 'secret')
    await write(await root.getDirectoryHandle('assets', { create: true }), 'main.js', 'run()')
    const site = await svc.publish({
      relay,
      name: 'folder',
      fetch: () => new Response('live'),
      cache: { files: root, ttl: 600 },
    })
    const change = async (): Promise<void> => {
      await write(root, 'index.html', '<h1>other</h1>')
      await site.cache?.refresh()
    }
    Object.assign(globalThis, { site, change })
    await site.cache?.refresh()
    return site.canonicalUrl
  }, relay.url)
  const get = async (path: string): Promise<string> => String(await curl(relay.caFile, url + path))
  expect(await get('/')).toBe('<h1>hello</h1>')
  expect(await get('/assets/main.js')).toBe('run()')
  // The live site answers what is not stored.
  expect(await get('/.env')).toBe('live')
  const inPage = <T>(script: string): Promise<T> => tenant.evaluate(script)
  await inPage('change()')
  expect(await get('/')).toBe('<h1>other</h1>')
  await inPage('site.cache.remove()')
  expect(await get('/')).toBe('live')
  expect(await inPage('site.cache.present')).toBe(false)
})

wholeOnly(test, 'variant')(
  'a folder input is stored under the paths below the folder, and stays when the page is gone',
  async ({ tenant, relay }, info) => {
    const folder = info.outputPath('site')
    await mkdir(`${folder}/sub`, { recursive: true })
    await writeFile(`${folder}/index.html`, 'index')
    await writeFile(`${folder}/sub/a.bin`, Buffer.alloc(9 * 1024 * 1024, 'x'))
    await tenant.setContent('<input type="file" webkitdirectory>')
    await tenant.locator('input').setInputFiles(folder)
    const { url, present } = await tenant.evaluate(async (relay) => {
      const { files } = document.querySelector('input')!
      const site = await svc.publish({
        relay,
        name: 'input',
        fetch: () => new Response('live'),
        cache: { files: files!, ttl: 600 },
      })
      await site.cache?.refresh()
      return { url: site.canonicalUrl, present: site.cache?.present }
    }, relay.url)
    expect(present).toBe(true)
    await tenant.close()
    expect(String(await curl(relay.caFile, `${url}/`))).toBe('index')
    expect((await curl(relay.caFile, `${url}/sub/a.bin`)).length).toBe(9 * 1024 * 1024)
  },
)
