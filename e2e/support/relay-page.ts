// Opens the relay's own pages, and keeps what their consoles said, and how far anything in them jumped.
import type { BrowserContext, Page } from '@playwright/test'

/** The sizes of a phone, a tablet and a desk. */
export const WIDTHS_PX = [390, 768, 1440] as const

export interface OpenedPage {
  page: Page
  /** The messages of the page's console and its uncaught errors, and every dialog that a script opened. */
  errors: string[]
}

export async function openWeb(context: BrowserContext, url: string): Promise<OpenedPage> {
  const page = await context.newPage()
  const errors: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('dialog', (dialog) => {
    errors.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.addInitScript(sumShifts)
  await page.goto(url)
  return { page, errors }
}

/** Lets the page ask the relay now, as when it is shown again. */
export async function look(page: Page): Promise<void> {
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
}

/** The cumulative layout shift, which leaves out what follows an input at once. */
export function layoutShift(page: Page): Promise<number> {
  return page.evaluate(() => (globalThis as { layoutShift?: number }).layoutShift ?? Number.NaN)
}

/** Runs in the page. */
function sumShifts(): void {
  const scope = globalThis as { layoutShift?: number }
  scope.layoutShift = 0
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & {
      value: number
      hadRecentInput: boolean
    })[])
      if (!entry.hadRecentInput) scope.layoutShift! += entry.value
  }).observe({ type: 'layout-shift', buffered: true })
}

/** Markup and addresses that would run, if anything took them for more than text. */
export const HOSTILE = {
  markup: '<img src=x onerror=alert(1)><script>alert(2)</script>',
  attribute: '"><svg onload=alert(3)>',
  script: 'javascript:alert(4)',
  page: 'data:text/html,<script>alert(5)</script>',
  picture: `data:image/svg+xml,${encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8" onload="alert(6)"><script>alert(7)</script><rect width="8" height="8"/></svg>',
  )}`,
} as const
