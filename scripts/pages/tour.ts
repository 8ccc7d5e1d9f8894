// The README's animation: a tab publishes a note, a phone opens it, and the relay shows the ciphertext of that visit. All of it happens
// at a real relay; only the phone is laid over the page. The only importer of sharp.
import { type Browser, devices, type Page } from '@playwright/test'
import sharp from 'sharp'

export interface TourOptions {
  url: string
  colorScheme: 'light' | 'dark'
  note: string
  /** The name of the site, below the relay's host. */
  name: string
}

/** What is seen when it has ended, and the whole. */
export interface Tour {
  last: Buffer
  animation: Buffer
}

interface Frame {
  png: Buffer
  ms: number
}

/** CSS pixels: down to the end of the diagram, which grows. */
const VIEWPORT = { width: 1180, height: 940 }
const PHONE = devices['Pixel 7']!
/** Pixels of the file for each: of the picture, and of the animation. */
const SCALE = 1.5
const ANIMATION_WIDTH_PX = 1180
const QUALITY = 78
/** Times that it plays: something that moves for ever keeps readers from reading. */
const PLAYS = 3
const TYPED_CHARACTERS = 9
/** Milliseconds of frames. Together they are some twelve seconds. */
const SHOWN_MS = { start: 900, typed: 110, published: 2200, moving: 90, phone: 2200, end: 4000 } as const
/** Frames while bytes pass. */
const MOVING_FRAMES = 6

export async function recordTour(browser: Browser, options: TourOptions): Promise<Tour> {
  const { url, colorScheme, note, name } = options
  // The phone is laid over the page by a script of ours.
  const look = { colorScheme, deviceScaleFactor: SCALE, bypassCSP: true }
  const context = await browser.newContext({ ...look, viewport: VIEWPORT })
  await context.addInitScript((name) => {
    for (const tab of [0, 1]) localStorage.setItem(`svc-landing-note-${tab}`, name)
  }, name)
  const page = await context.newPage()
  const frames: Frame[] = []
  const take = async (ms: number): Promise<void> => void frames.push({ png: await page.screenshot(), ms })
  await page.goto(url)
  const field = page.getByLabel('Text or HTML')
  await field.fill('')
  await take(SHOWN_MS.start)
  for (let at = 0; at < note.length; at += TYPED_CHARACTERS) {
    await field.fill(note.slice(0, at + TYPED_CHARACTERS))
    await take(SHOWN_MS.typed)
  }
  await page.getByRole('button', { name: 'Publish' }).click()
  const address = page.locator('.address a')
  await address.waitFor()
  await page.locator('.qr svg').waitFor()
  await take(SHOWN_MS.published)
  const phone = await browser.newContext({ ...look, ...PHONE })
  const visitor = await phone.newPage()
  const visit = visitor.goto((await address.textContent()) ?? '')
  await page.locator('.request').waitFor()
  for (let left = MOVING_FRAMES; left > 0; left -= 1) await take(SHOWN_MS.moving)
  await visit
  await layPhone(page, await visitor.screenshot())
  await take(SHOWN_MS.phone)
  await page.locator('.laid').evaluate((phone) => phone.remove())
  await page.locator('.phone').evaluate(({ style }) => style.removeProperty('visibility'))
  await take(SHOWN_MS.end)
  await phone.close()
  await context.close()
  return { last: frames.at(-1)!.png, animation: await animated(frames) }
}

/** Lays what the phone shows over the visitor's part of the diagram, in the shape of a phone. */
async function layPhone(page: Page, shown: Buffer): Promise<void> {
  await page.locator('.phone').evaluate(
    (frame, source) => {
      const { body, defaultView: view } = frame.ownerDocument
      const image = frame.ownerDocument.createElement('img')
      image.className = 'laid'
      image.src = source
      const { left, top, width } = frame.getBoundingClientRect()
      const border = 8
      Object.assign(image.style, {
        position: 'absolute',
        left: `${left + (view?.scrollX ?? 0)}px`,
        top: `${top + (view?.scrollY ?? 0)}px`,
        width: `${width}px`,
        boxSizing: 'border-box',
        border: `${border}px solid #33373d`,
        borderRadius: '36px',
        boxShadow: '0 12px 40px rgb(0 0 0 / 30%)',
      })
      body.append(image)
      frame.style.visibility = 'hidden'
      return image.decode()
    },
    `data:image/png;base64,${shown.toString('base64')}`,
  )
}

async function animated(frames: readonly Frame[]): Promise<Buffer> {
  const small = frames.map(({ png }) => sharp(png).resize({ width: ANIMATION_WIDTH_PX }).png().toBuffer())
  return sharp(await Promise.all(small), { join: { animated: true } })
    .webp({ quality: QUALITY, effort: 6, loop: PLAYS, delay: frames.map(({ ms }) => ms), minSize: true })
    .toBuffer()
}
