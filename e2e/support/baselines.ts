// Compares pages with the pictures in e2e/baselines, which one Chromium made with the fonts of one machine.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Browser, Page, TestInfo } from '@playwright/test'
import { expect } from '../fixtures.ts'

const MADE_WITH = path.resolve(import.meta.dirname, '../baselines/made-with.json')
const COLOR_SCHEMES = ['light', 'dark'] as const
/** A phone and a desk. */
const SCREENS = [
  { width: 390, height: 844 },
  { width: 1440, height: 900 },
] as const
const GENERIC_FONTS = ['sans-serif', 'serif', 'monospace']
/** Of all pixels, these may differ. */
const MAX_DIFF_RATIO = 0.001

/** @returns why the pictures cannot be compared here, if so; where they are made anew, it writes down with what */
export function whyNotComparable(browser: Browser, { config }: TestInfo): string | undefined {
  const here = JSON.stringify(
    {
      chromium: browser.version(),
      fonts: Object.fromEntries(GENERIC_FONTS.map((generic) => [generic, fontFor(generic)])),
    },
    null,
    2,
  )
  if (['all', 'changed'].includes(config.updateSnapshots)) writeFileSync(MADE_WITH, `${here}\n`)
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

/** Expects the page to look as in its pictures: on a phone and on a desk, in the light and in the dark. */
export async function expectLook(
  page: Page,
  name: string,
  options: { fullPage?: boolean } = {},
): Promise<void> {
  await page.evaluate(fixWhatChanges)
  for (const size of SCREENS) {
    await page.setViewportSize(size)
    for (const colorScheme of COLOR_SCHEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.evaluate(() => scrollTo(0, 0))
      await expect.soft(page).toHaveScreenshot(`${name}-${size.width}-${colorScheme}.png`, {
        ...options,
        maxDiffPixelRatio: MAX_DIFF_RATIO,
      })
    }
  }
}

/** Runs in the page: replaces ports, keys and times now and whenever they change, and hides what is drawn from measurements. */
function fixWhatChanges(): void {
  const style = new CSSStyleSheet()
  style.replaceSync('canvas, .hexdump { visibility: hidden !important }')
  document.adoptedStyleSheets.push(style)
  const fixed = (text: string): string =>
    text
      .replace(/:\d{4,5}\b/g, ':8443')
      .replace(/\b(?:[0-9a-f]{2}:){9,}[0-9a-f]{2}\b/gi, 'AA:BB')
      .replace(/\b0x[0-9a-f]{6,}/gi, '0x00000000')
      .replace(/[\d.,]+ (ms|s|min|h|days?|B|kB|MB|GB|KiB|MiB)\b/g, '1 $1')
  const fix = (): void => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    let time: Element | undefined
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const of = node.parentElement?.closest('time') ?? undefined
      const text = of === undefined ? fixed(node.nodeValue ?? '') : of === time ? '' : 'then'
      time = of
      if (node.nodeValue !== text) node.nodeValue = text
    }
  }
  fix()
  new MutationObserver(fix).observe(document.body, { subtree: true, childList: true, characterData: true })
}
