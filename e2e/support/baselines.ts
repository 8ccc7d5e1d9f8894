// Compares pages with the pictures in e2e/baselines, which one Chromium made with the fonts of one machine.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Browser, CDPSession, Locator, Page, TestInfo } from '@playwright/test'
import sharp from 'sharp'
import { expect, test } from '../fixtures.ts'

const BASELINES = path.resolve(import.meta.dirname, '../baselines')
const MADE_WITH = path.join(BASELINES, 'made-with.json')
const COLOR_SCHEMES = ['light', 'dark'] as const
/** A phone, a tablet and a desk. */
const SCREENS = [
  { width: 390, height: 844 },
  { width: 768, height: 1024 },
  { width: 1440, height: 900 },
] as const
const GENERIC_FONTS = ['sans-serif', 'serif', 'monospace']
/** Of all pixels, these may differ. */
const MAX_DIFF_RATIO = 0.001
/** By which a pixel may differ in a color, of 255: less than a line differs from its ground, more than a palette rounds. */
const MAX_COLOR_DIFF = 40
/** Times that a page is looked at until it is as in its picture, or stands still. */
const LOOKS = 20
/** Milliseconds between two of them. */
const LOOK_AGAIN_MS = 150
const PALETTE = { palette: true, dither: 0, effort: 10, compressionLevel: 9 } as const
/** Two pixels in each byte: a picture has a quarter of its bytes. */
const FEW_COLORS = 16

/** @returns why the pictures cannot be compared here, if so; where they are made anew, it writes down with what */
export function whyNotComparable(browser: Browser, info: TestInfo): string | undefined {
  const here = JSON.stringify(
    {
      chromium: browser.version(),
      fonts: Object.fromEntries(GENERIC_FONTS.map((generic) => [generic, fontFor(generic)])),
    },
    null,
    2,
  )
  if (isUpdate(info)) writeFileSync(MADE_WITH, `${here}\n`)
  const there = readFileSync(MADE_WITH, 'utf8').trim()
  return here === there ? undefined : `the baselines were made with ${there}, and here is ${here}`
}

function fontFor(generic: string): string {
  try {
    return execFileSync('fc-match', ['--format', '%{family} %{fontversion}', generic], { encoding: 'utf8' })
  } catch {
    return 'unknown'
  }
}

interface LookOptions {
  /** Whether the pictures show what is below the screen. */
  fullPage?: boolean
  /** The pictures show this element in place of the page. */
  of?: Locator
  /** Whether a page that goes on is held, as with a time that runs. It answers nobody afterwards. */
  isHeld?: boolean
}

/** Expects the page to look as in its pictures: on a phone, a tablet and a desk, in the light and in the dark. */
export async function expectLook(
  page: Page,
  name: string,
  { fullPage = false, of, isHeld = false }: LookOptions = {},
): Promise<void> {
  await page.evaluate(fixWhatChanges)
  if (isHeld) await page.evaluate(() => document.body.replaceWith(document.body.cloneNode(true)))
  const session = await page.context().newCDPSession(page)
  for (const size of SCREENS) {
    await page.setViewportSize(size)
    await page.evaluate(() => scrollTo(0, 0))
    const place = fullPage ? page.locator('html') : of
    for (const colorScheme of COLOR_SCHEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      const take = (): Promise<Buffer> => takePicture(session, place)
      await expectPicture(`${name}-${size.width}-${colorScheme}.png`, take)
    }
  }
  await session.detach()
}

/** Playwright's own screenshots take several times as long. */
async function takePicture(session: CDPSession, place: Locator | undefined): Promise<Buffer> {
  const clip = await place?.evaluate((element) => {
    scrollTo(0, 0)
    const { left, top, width, height } = element.getBoundingClientRect()
    return {
      x: Math.floor(left),
      y: Math.floor(top),
      width: Math.ceil(width),
      height: Math.ceil(height),
      scale: 1,
    }
  })
  const { data } = await session.send('Page.captureScreenshot', {
    optimizeForSpeed: true,
    ...(clip && { clip, captureBeyondViewport: true }),
  })
  return Buffer.from(data, 'base64')
}

/** Compares with the picture as soon as both are alike; where pictures are made anew, it is written when the page stands still. */
async function expectPicture(name: string, take: () => Promise<Buffer>): Promise<void> {
  const info = test.info()
  const file = path.join(BASELINES, name)
  const expected = existsSync(file) ? await pixelsOf(await readFile(file)) : undefined
  let shown = await take()
  let ratio = 1
  for (let looks = 0; looks < LOOKS; looks += 1) {
    ratio = expected === undefined ? 1 : differenceOf(expected, await pixelsOf(shown))
    if (ratio <= MAX_DIFF_RATIO) return
    await setTimeout(LOOK_AGAIN_MS)
    const next = await take()
    if (isUpdate(info) && next.equals(shown)) return writeFile(file, await small(shown))
    shown = next
  }
  await info.attach(name, { body: shown, contentType: 'image/png' })
  expect.soft(ratio, `${name}: the part of its pixels that differ`).toBeLessThanOrEqual(MAX_DIFF_RATIO)
}

/** Few colors are enough for nearly all pages. */
async function small(png: Buffer): Promise<Buffer> {
  const few = await sharp(png)
    .png({ ...PALETTE, colors: FEW_COLORS })
    .toBuffer()
  const ratio = differenceOf(await pixelsOf(png), await pixelsOf(few))
  return ratio < MAX_DIFF_RATIO / 4 ? few : sharp(png).png(PALETTE).toBuffer()
}

function isUpdate({ config }: TestInfo): boolean {
  return ['all', 'changed'].includes(config.updateSnapshots)
}

interface Pixels {
  data: Buffer
  info: { width: number; height: number }
}

function pixelsOf(png: Buffer): Promise<Pixels> {
  return sharp(png).removeAlpha().toColourspace('srgb').raw().toBuffer({ resolveWithObject: true })
}

/** @returns the part of the pixels that differ; 1 where one picture is larger */
function differenceOf(one: Pixels, other: Pixels): number {
  const { width, height } = one.info
  if (width !== other.info.width || height !== other.info.height) return 1
  let count = 0
  for (let at = 0; at < one.data.length; at += 3) {
    const isOther =
      Math.abs(one.data[at]! - other.data[at]!) > MAX_COLOR_DIFF ||
      Math.abs(one.data[at + 1]! - other.data[at + 1]!) > MAX_COLOR_DIFF ||
      Math.abs(one.data[at + 2]! - other.data[at + 2]!) > MAX_COLOR_DIFF
    if (isOther) count += 1
  }
  return count / (width * height)
}

/**
 * Runs in the page, of which it may know already: replaces ports, keys and times now and whenever they change, and hides what is
 * drawn from measurements.
 */
function fixWhatChanges(): void {
  const scope = globalThis as { isFixed?: boolean }
  if (scope.isFixed) return
  scope.isFixed = true
  const style = new CSSStyleSheet()
  style.replaceSync(
    'canvas, .hexdump, .timing > .bar { visibility: hidden !important } * { caret-color: transparent !important }',
  )
  document.adoptedStyleSheets.push(style)
  const fixed = (text: string): string =>
    text
      .replace(/:\d{4,5}\b/g, ':8443')
      .replace(/\b(?:[0-9a-f]{2}:){9,}[0-9a-f]{2}\b/gi, 'AA:BB')
      .replace(/\b0x[0-9a-f]{6,}/gi, '0x00000000')
      .replace(/\b[0-9a-f]{16,}\b/g, (key) => 'f'.repeat(key.length))
      .replace(/\b[1-9A-HJ-NP-Za-km-z]{43,44}\b/g, 'digest')
      .replace(/\/tmp\/[\w-]+/g, '/tmp/directory')
      .replace(/\b\d{1,2}\/\d{1,2}\/\d{4}\b/g, '1/2/2026')
      .replace(/\b\d{1,2}:\d\d(?::\d\d)?(?: [AP]M)?\b/g, '12:00')
      .replace(/[\d.,]+ (?:ms|s|min|h|days?)\b/g, '1 s')
      .replace(/[\d.,]+ (?:B|kB|MB|GB|KiB|MiB)\b/g, '1 kB')
  const fix = (): void => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    let time: Element | undefined
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const of = node.parentElement?.closest('time') ?? undefined
      const text = of === undefined ? fixed(node.nodeValue ?? '') : of === time ? '' : 'then'
      time = of
      if (node.nodeValue !== text) node.nodeValue = text
    }
    for (const field of document.querySelectorAll('textarea'))
      if (field.value !== fixed(field.value)) field.value = fixed(field.value)
  }
  fix()
  new MutationObserver(fix).observe(document.body, { subtree: true, childList: true, characterData: true })
}
