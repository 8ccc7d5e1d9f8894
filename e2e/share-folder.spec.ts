// The example's journey: files and folders are chosen or dropped, listed, downloaded, in parts too, and played.

import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect } from './fixtures.ts'
import { exampleTest, expectAccessible, expectFits, expectLinked, PHONE_PX } from './support/example-page.ts'

const BIG_BYTES: number = 4 * 1024 * 1024

const share = exampleTest('share-folder')

const text = (name: string, content: string) => ({ name, mimeType: '', buffer: Buffer.from(content) })

share(
  'chosen files are listed and downloaded',
  async ({ example: { page, errors, address }, relay, visitor }) => {
    const url = await address()
    await page.getByLabel('Choose files').setInputFiles([text('a & b.txt', 'hello'), text('<b>.json', '{}')])
    await expect(page.locator('#count')).toHaveText('2 shared')
    await visitor.goto(url)
    await expect(visitor.locator('tbody a')).toHaveText(['<b>.json', 'View', 'a & b.txt', 'View'])
    await expectAccessible(visitor)
    await visitor.getByRole('link', { name: 'View <b>.json' }).click()
    await expect(visitor.locator('pre')).toHaveText('{}')
    await visitor.goBack()
    const download = visitor.waitForEvent('download')
    await visitor.getByRole('link', { name: 'Download all as ZIP' }).click()
    expect((await download).suggestedFilename()).toMatch(/^share-.*\.zip$/)
    expect(await (await download).failure()).toBe(null)
    await visitor.getByRole('link', { name: 'a & b.txt', exact: true }).click()
    await expect(visitor.locator('body')).toHaveText('hello')
    await expect(page.locator('#downloads li').first()).toContainText('/a & b.txt')
    await expect(page.locator('#downloads li').first()).toContainText('5 B · done')
    expect(String(await curl(relay.caFile, '--path-as-is', `${url}/../a%20&%20b.txt`))).toBe('hello')
    expect(String(await curl(relay.caFile, '-o', '/dev/null', '-w', '%{http_code}', `${url}/none`))).toBe(
      '404',
    )

    // DOWNLOADS_MAX
    await curl(relay.caFile, `${url}/%3Cb%3E.json?[1-21]`)
    await expect(page.locator('#downloads li')).toHaveCount(20)

    await page.getByRole('button', { name: 'Clear' }).click()
    await expect(page.locator('#count')).toHaveText('none yet')
    expect(String(await curl(relay.caFile, `${url}/a%20&%20b.txt`))).toBe('Not found\n')
    expect(errors).toEqual([])
    // This relay keeps no files.
    await expect(page.getByLabel('Keep these files up')).toBeHidden()
  },
)

wholeOnly(share, 'variant')(
  'parts, validators and progress of a large file',
  async ({ example: { page, address }, relay }) => {
    const url = await address()
    const content = randomBytes(BIG_BYTES)
    await page.getByLabel('Choose files').setInputFiles({ name: 'big.bin', mimeType: '', buffer: content })
    const part = await curl(relay.caFile, '-i', '-r', '1000000-1000009', `${url}/big.bin`)
    expect(String(part)).toMatch(/^HTTP\/\S+ 206/)
    expect(String(part)).toContain(`content-range: bytes 1000000-1000009/${BIG_BYTES}\r\n`)
    expect(part.subarray(-10)).toEqual(content.subarray(1_000_000, 1_000_010))
    const end = await curl(relay.caFile, '-r', '-100000', `${url}/big.bin`)
    expect(end.equals(content.subarray(-100_000))).toBe(true)
    expect((await curl(relay.caFile, `${url}/big.bin`)).equals(content)).toBe(true)
    await expect(page.locator('#downloads li').first()).toContainText('4.2 MB · done')
    await expect(page.locator('#downloads progress').first()).toHaveJSProperty('value', BIG_BYTES)

    const etag = /^etag: (.*)\r$/m.exec(String(part))![1]!
    const again = await curl(relay.caFile, '-i', '-H', `If-None-Match: ${etag}`, `${url}/big.bin`)
    expect(String(again)).toMatch(/^HTTP\/\S+ 304/)
    const beyond = await curl(relay.caFile, '-i', '-r', `${BIG_BYTES}-`, `${url}/big.bin`)
    expect(String(beyond)).toMatch(/^HTTP\/\S+ 416/)
  },
)

wholeOnly(share, 'variant')(
  'a chosen folder is the site: its index and what is below',
  async ({ example: { page, address }, visitor }, info) => {
    const folder = await makeFolder(info.outputPath('site'))
    const url = await address()
    await page.getByLabel('Choose a folder').setInputFiles(folder)
    await expect(page.locator('#count')).toHaveText('2 shared')
    await visitor.goto(url)
    await expect(visitor.getByRole('heading')).toHaveText('Index')
    await visitor.goto(`${url}/sub`)
    await expect(visitor).toHaveURL(`${url}/sub/`)
    await expect(visitor.locator('tbody a')).toHaveText(['..', 'deep.txt', 'View'])
  },
)

wholeOnly(share, 'variant')(
  'a dropped folder is the site',
  async ({ example: { page, errors, address }, visitor }, info) => {
    const folder = await makeFolder(info.outputPath('site'))
    const url = await address()
    await dropOnto(page, folder)
    await expect(page.locator('#count')).toHaveText('2 shared')
    await visitor.goto(`${url}/sub/deep.txt`)
    await expect(visitor.locator('body')).toHaveText('deep')
    expect(errors).toEqual([])
  },
)

wholeOnly(share, 'variant')(
  'a video plays from where the visitor wants',
  async ({ example: { page, address }, visitor }) => {
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
  },
)

wholeOnly(share, 'depth')(
  'a folder of too many files is refused as a whole',
  async ({ example: { page, address } }) => {
    await address()
    await dropMany(page, 20_001)
    await expect(page.locator('#error')).toContainText('more than 20000 files')
    await expect(page.locator('#count')).toHaveText('none yet')
    await dropMany(page, 20_000)
    await expect(page.locator('#count')).toHaveText('20000 shared')
    await expect(page.locator('#error')).toBeEmpty()
  },
)

wholeOnly(share, 'appearance')(
  'it fits a phone and a desk and passes axe-core, and so does what visitors see; its index leads to it',
  async ({ example: { page, address }, relay, visitor }, info) => {
    const url = await address()
    const name = `${'a-rather-long-name-'.repeat(8)}.txt`
    await page.getByLabel('Choose files').setInputFiles([text(name, 'hello'), text('b.txt', 'hello')])
    await curl(relay.caFile, `${url}/${name}`)
    await expect(page.locator('#downloads li')).toHaveCount(1)
    await expectFits({ page }, info)
    // the index of a folder has no ground of its own
    await visitor.setViewportSize({ width: PHONE_PX, height: 844 })
    await visitor.goto(url)
    expect(await visitor.evaluate(() => document.documentElement.scrollWidth)).toBe(PHONE_PX)
    await expectAccessible(page, visitor)
    await expectLinked(page, relay.url, 'Share a folder', 'share-folder')
  },
)

async function makeFolder(root: string): Promise<string> {
  await mkdir(path.join(root, 'sub'), { recursive: true })
  await writeFile(path.join(root, 'index.html'), '<!doctype html><title>x</title><h1>Index</h1>')
  await writeFile(path.join(root, 'sub/deep.txt'), 'deep')
  return root
}

/** Drops files as a person does from the desktop. */
async function dropOnto(page: Page, file: string): Promise<void> {
  const box = (await page.locator('#drop').boundingBox())!
  const session = await page.context().newCDPSession(page)
  const data = { items: [], files: [file], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, x: box.x + 20, y: box.y + 20, data })
}

/**
 * A folder as the File System API gives it, in portions: so many files would take long to make on a disk, and in the
 * browser, too, which is why they are all one file.
 */
async function dropMany(page: Page, count: number): Promise<void> {
  await page.locator('#drop').evaluate((target, count) => {
    const empty = new File([], 'x')
    const file = { isDirectory: false, file: (resolve: (file: File) => void) => resolve(empty) }
    const names = Array.from({ length: count }, (_, i) => `${i}.txt`)
    const readEntries = (resolve: (entries: object[]) => void): void =>
      resolve(names.splice(0, 100).map((name) => ({ ...file, name })))
    const folder = { isDirectory: true, name: 'many', createReader: () => ({ readEntries }) }
    const dataTransfer = { items: [{ webkitGetAsEntry: () => folder }] }
    target.dispatchEvent(Object.assign(new Event('drop', { cancelable: true }), { dataTransfer }))
  }, count)
}

/** Records a second of a canvas. @returns base64 of a WebM file */
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
