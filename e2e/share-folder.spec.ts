// The example's journey: files and folders are chosen or dropped, listed, downloaded, in parts too, and played.
import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { expect, test } from './fixtures.ts'
import { curl } from './harness/curl.ts'
import { type Example, expectFits, expectLinked, openExample } from './harness/example.ts'

const BIG_BYTES: number = 8 * 1024 * 1024

const share = test.extend<{ share: Example }>({
  share: async ({ browser, relay }, use) => {
    const context = await browser.newContext()
    await use(await openExample(context, relay.url, 'share-folder'))
    await context.close()
  },
})

const text = (name: string, content: string) => ({ name, mimeType: '', buffer: Buffer.from(content) })

share(
  'chosen files are listed and downloaded',
  async ({ share: { page, errors, address }, relay, visitor }) => {
    const url = await address()
    await page.getByLabel('Choose files').setInputFiles([text('a & b.txt', 'hello'), text('<b>.json', '{}')])
    await expect(page.locator('#count')).toHaveText('2 shared')
    await visitor.goto(url)
    await expect(visitor.getByRole('link')).toHaveText(['<b>.json', 'a & b.txt'])
    await visitor.getByRole('link', { name: 'a & b.txt' }).click()
    await expect(visitor.locator('body')).toHaveText('hello')
    await expect(page.locator('#downloads li').first()).toContainText('/a & b.txt')
    await expect(page.locator('#downloads li').first()).toContainText('5 B · done')
    expect(String(await curl(relay.caFile, '--path-as-is', `${url}/../a%20&%20b.txt`))).toBe('hello')
    expect(String(await curl(relay.caFile, '-o', '/dev/null', '-w', '%{http_code}', `${url}/none`))).toBe(
      '404',
    )

    await page.getByRole('button', { name: 'Clear' }).click()
    await expect(page.locator('#count')).toHaveText('none yet')
    expect(String(await curl(relay.caFile, `${url}/a%20&%20b.txt`))).toBe('Not found\n')
    expect(errors).toEqual([])
  },
)

share('parts, validators and progress of a large file', async ({ share: { page, address }, relay }) => {
  const url = await address()
  const content = randomBytes(BIG_BYTES)
  await page.getByLabel('Choose files').setInputFiles({ name: 'big.bin', mimeType: '', buffer: content })
  const part = await curl(relay.caFile, '-i', '-r', '1000000-1000009', `${url}/big.bin`)
  expect(String(part)).toContain('HTTP/1.1 206 Partial Content\r\n')
  expect(String(part)).toContain(`content-range: bytes 1000000-1000009/${BIG_BYTES}\r\n`)
  expect(part.subarray(-10)).toEqual(content.subarray(1_000_000, 1_000_010))
  const end = await curl(relay.caFile, '-r', '-100000', `${url}/big.bin`)
  expect(end.equals(content.subarray(-100_000))).toBe(true)
  expect((await curl(relay.caFile, `${url}/big.bin`)).equals(content)).toBe(true)
  await expect(page.locator('#downloads li').first()).toContainText('8.4 MB · done')
  await expect(page.locator('#downloads progress').first()).toHaveJSProperty('value', BIG_BYTES)

  const etag = /^etag: (.*)\r$/m.exec(String(part))![1]!
  const again = await curl(relay.caFile, '-i', '-H', `If-None-Match: ${etag}`, `${url}/big.bin`)
  expect(String(again)).toMatch(/^HTTP\/1\.1 304 /)
  const beyond = await curl(relay.caFile, '-i', '-r', `${BIG_BYTES}-`, `${url}/big.bin`)
  expect(String(beyond)).toMatch(/^HTTP\/1\.1 416 /)
})

share(
  'a chosen folder is the site: its index and what is below',
  async ({ share: { page, address }, visitor }, info) => {
    const folder = await makeFolder(info.outputPath('site'))
    const url = await address()
    await page.getByLabel('Choose a folder').setInputFiles(folder)
    await expect(page.locator('#count')).toHaveText('2 shared')
    await visitor.goto(url)
    await expect(visitor.getByRole('heading')).toHaveText('Index')
    await visitor.goto(`${url}/sub`)
    await expect(visitor).toHaveURL(`${url}/sub/`)
    await expect(visitor.getByRole('link')).toHaveText(['..', 'deep.txt'])
  },
)

share('a dropped folder is the site', async ({ share: { page, errors, address }, visitor }, info) => {
  const folder = await makeFolder(info.outputPath('site'))
  const url = await address()
  await dropOnto(page, folder)
  await expect(page.locator('#count')).toHaveText('2 shared')
  await visitor.goto(`${url}/sub/deep.txt`)
  await expect(visitor.locator('body')).toHaveText('deep')
  expect(errors).toEqual([])
})

share('a video plays from where the visitor wants', async ({ share: { page, address }, visitor }) => {
  const url = await address()
  const video = Buffer.from(await recordVideo(page), 'base64')
  await page
    .getByLabel('Choose files')
    .setInputFiles({ name: 'clip.webm', mimeType: 'video/webm', buffer: video })
  await visitor.goto(`${url}/clip.webm`)
  const player = visitor.locator('video')
  await player.evaluate((element: HTMLVideoElement) => {
    element.muted = true
    return element.play()
  })
  await expect
    .poll(() => player.evaluate((element: HTMLVideoElement) => element.currentTime))
    .toBeGreaterThan(0)
  await expect(page.locator('#downloads li').first()).toContainText('/clip.webm')
})

for (const colorScheme of ['light', 'dark'] as const) {
  share(`it fits a phone, ${colorScheme}`, async ({ share: { page, address }, relay }, info) => {
    const url = await address()
    const name = `${'a-rather-long-name-'.repeat(8)}.txt`
    await page.getByLabel('Choose files').setInputFiles(text(name, 'hello'))
    await curl(relay.caFile, `${url}/${name}`)
    await expect(page.locator('#downloads li')).toHaveCount(1)
    await expectFits(page, 390, colorScheme)
    await page.screenshot({ path: info.outputPath(`share-${colorScheme}.png`), fullPage: true })
  })
}

share('it runs no inline script, and its index leads to it', async ({ share: { page }, relay }) => {
  await expectLinked(page, relay.url, 'Share a folder', 'share-folder')
})

async function makeFolder(root: string): Promise<string> {
  await mkdir(path.join(root, 'sub'), { recursive: true })
  await writeFile(path.join(root, 'index.html'), '<!doctype html><title>x</title><h1>Index</h1>')
  await writeFile(path.join(root, 'sub/deep.txt'), 'deep')
  return root
}

/** As a person drops from the desktop. */
async function dropOnto(page: Page, file: string): Promise<void> {
  const box = (await page.locator('#drop').boundingBox())!
  const session = await page.context().newCDPSession(page)
  const data = { items: [], files: [file], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, x: box.x + 20, y: box.y + 20, data })
}

/** A second of a canvas. @returns base64 of a WebM file */
async function recordVideo(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const canvas = document.createElement('canvas')
    const context = canvas.getContext('2d')!
    const recorder = new MediaRecorder(canvas.captureStream(25), { mimeType: 'video/webm' })
    const parts: Blob[] = []
    recorder.ondataavailable = (event) => parts.push(event.data)
    const ended = new Promise((resolve) => {
      recorder.onstop = resolve
    })
    const drawing = setInterval(() => {
      context.fillStyle = `hsl(${performance.now() % 360} 80% 50%)`
      context.fillRect(0, 0, canvas.width, canvas.height)
    }, 40)
    recorder.start()
    setTimeout(() => recorder.stop(), 1000)
    await ended
    clearInterval(drawing)
    const bytes = new Uint8Array(await new Blob(parts).arrayBuffer())
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  })
}
