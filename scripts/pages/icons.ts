// Draws the icons of the relay's pages from their mark: `node scripts/pages/icons.ts`, after a change of relay/web/public/favicon.svg.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { chromium } from '@playwright/test'
import { findChromium } from '../../tools/programs/chromium.ts'
import { root } from '../../tools/programs/command.ts'

/** Pixels; the home screens of iOS and Android ask for these. */
const SIZES_PX = [180, 512]
/** Of the icon, so that a round mask cuts nothing off. */
const MARK_SHARE = 0.6

const pages = path.join(root, 'relay/web/public')
const mark = readFileSync(path.join(pages, 'favicon.svg'), 'utf8')
const executablePath = findChromium()
const browser = await chromium.launch({
  ...(executablePath !== undefined && { executablePath }),
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
})
for (const size of SIZES_PX) {
  const page = await browser.newPage({ viewport: { width: size, height: size } })
  await page.setContent(
    `<style>body{margin:0;height:100vh;display:grid;place-items:center;background:#f6f5f2}svg{width:${MARK_SHARE * 100}%}</style>${mark}`,
  )
  await page.screenshot({ path: path.join(pages, `icon-${size}.png`) })
  await page.close()
}
await browser.close()
