// A page with many images in Chromium, from the first byte asked for to the last image drawn.
import type { Browser } from '@playwright/test'
import { GALLERY_IMAGES, PATH } from './work.ts'

/** @returns milliseconds; each visitor comes with nothing cached and no connection open */
export async function galleryMs(browser: Browser, site: string): Promise<number> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(`${site}${PATH.gallery}`, { waitUntil: 'load' })
  const { milliseconds, images } = await page.evaluate(() => {
    const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
    return {
      milliseconds: navigation!.loadEventStart,
      images: [...document.images].filter(({ naturalWidth }) => naturalWidth > 0).length,
    }
  })
  await context.close()
  if (images !== GALLERY_IMAGES) throw new Error(`${images} images came of ${GALLERY_IMAGES}`)
  return milliseconds
}
