// A page with many images in Chromium, from the first byte asked for to the last image drawn.
import type { Chromium } from '../lib/chromium.ts'
import { GALLERY_IMAGES, PATH } from './work.ts'

/** @returns milliseconds; each visitor comes with nothing cached and no connection open */
export async function galleryMs(browser: Chromium, site: string): Promise<number> {
  const page = await browser.open(`${site}${PATH.gallery}`)
  const { milliseconds, images } = await page.evaluate(() => {
    const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
    return {
      milliseconds: navigation!.loadEventStart,
      images: [...document.images].filter(({ naturalWidth }) => naturalWidth > 0).length,
    }
  })
  await page.close()
  if (images !== GALLERY_IMAGES) throw new Error(`${images} images came of ${GALLERY_IMAGES}`)
  return milliseconds
}
