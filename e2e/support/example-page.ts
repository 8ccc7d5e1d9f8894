// Opens an example's page from the relay, keeps what its console said, and checks what holds for all of them.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import AxeBuilder from '@axe-core/playwright'
import type { BrowserContext, Page, TestInfo, TestType } from '@playwright/test'
import { atDepth, wholeOnly } from '../../tools/test-depth.ts'
import { expect, test } from '../fixtures.ts'

interface Example {
  page: Page
  /** The messages of the page's console and its uncaught errors. */
  errors: string[]
  /** Waits until it is online. @returns its URL, without a slash at the end */
  address(): Promise<string>
}

const COLOR_SCHEMES = ['light', 'dark'] as const
const GROUNDS = { light: 'rgb(246, 245, 242)', dark: 'rgb(21, 23, 26)' } as const
export const PHONE_PX = 390
const DESK_PX = 1280
const HEIGHT_PX = 844

/** axe-core in its short form, half of what AxeBuilder would inject, and does so for each run. */
const AXE_SOURCE: string = readFileSync(
  createRequire(import.meta.resolve('@axe-core/playwright')).resolve('axe-core/axe.min.js'),
  'utf8',
)
/** The script that AxeBuilder is to inject: axe-core is there already. */
const INJECTED = ';'
/** Of the passed rules axe-core is to report next to nothing: its report is large, and is sent to this process. */
const ONLY_VIOLATIONS: Parameters<AxeBuilder['options']>[0] = {
  resultTypes: ['violations'],
  selectors: false,
}
/** The rules of axe-core whose result depends on the color scheme. */
const RULES_OF_COLORS: string[] = ['color-contrast', 'link-in-text-block']
/**
 * Every scheme at every width, with screenshots, for people to look at, and axe-core in each; else both schemes at the first
 * width, one at the last, and axe-core in one.
 */
const IS_THOROUGH: boolean = atDepth(true, false)

type ExampleTest =
  typeof test extends TestType<infer T, infer W> ? TestType<T & { example: Example }, W> : never

/** `test`, with the example of this name open in a page of its own. */
export function exampleTest(name: string): ExampleTest {
  return test.extend<{ example: Example }>({
    example: async ({ browser, relay }, use) => {
      const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
      await use(await openExample(context, relay.url, name))
      await context.close()
    },
  })
}

async function openExample(context: BrowserContext, relayUrl: string, name: string): Promise<Example> {
  const page = await context.newPage()
  const errors: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  page.on('pageerror', (error) => errors.push(error.message))
  await page.goto(`${relayUrl}/examples/${name}/`)
  const address = async (): Promise<string> => {
    await expect(page.locator('#error')).toHaveText('')
    await expect(page.locator('#state')).toHaveText('online')
    return (await page.locator('#url').textContent()) ?? ''
  }
  return { page, errors, address }
}

/**
 * Tests that the example and what its visitors see fit their screens and pass axe-core, and that the index leads to it.
 * @param title of the example in the index
 * @param fill brings the page and its visitor to where they are looked at
 */
export function testAppearance(
  example: ExampleTest,
  name: string,
  title: string,
  fill: (at: { page: Page; visitor: Page; url: string; relay: { caFile: string } }) => Promise<void>,
): void {
  wholeOnly(example, 'appearance')(
    'it fits a phone and a desk and passes axe-core, and so does what visitors see; its index leads to it',
    async ({ example: { page, address }, relay, visitor }, info) => {
      await fill({ page, visitor, url: await address(), relay })
      await expectFits({ page, visitor }, info)
      await expectAccessible(page, visitor)
      await expectLinked(page, relay.url, title, name)
    },
  )
}

/** Opens the example with a mouse click from the index: it works there, and runs no inline script. */
export async function expectLinked(page: Page, relayUrl: string, title: string, name: string): Promise<void> {
  expect(await page.locator('script:not([src])').count()).toBe(0)
  await page.goto(`${relayUrl}/examples/`)
  await page.getByRole('heading', { name: title }).getByRole('link').click()
  await expect(page).toHaveURL(`${relayUrl}/examples/${name}/`)
  await expect(page.locator('#state')).toHaveText('online')
}

/**
 * On a phone and on a desk, or at these widths, nothing of the pages is wider than the screen, and their ground is of
 * the scheme. `npm test` tries the first and the last; with `--whole` each leaves its screenshots.
 */
export async function expectFits(
  pages: Record<string, Page>,
  info: TestInfo,
  widths: readonly number[] = [PHONE_PX, DESK_PX],
): Promise<void> {
  for (const [name, page] of Object.entries(pages))
    for (const width of IS_THOROUGH ? widths : [widths[0]!, widths.at(-1)!]) {
      await page.setViewportSize({ width, height: HEIGHT_PX })
      for (const colorScheme of IS_THOROUGH || width === widths[0] ? COLOR_SCHEMES : [COLOR_SCHEMES[0]]) {
        await page.emulateMedia({ colorScheme })
        const what = `${name}-${width}-${colorScheme}`
        const { scrollWidth, ground } = await page.evaluate(() => ({
          scrollWidth: document.documentElement.scrollWidth,
          ground: getComputedStyle(document.body).backgroundColor,
        }))
        expect(scrollWidth, what).toBe(width)
        expect(ground, what).toBe(GROUNDS[colorScheme])
        if (IS_THOROUGH) await page.screenshot({ path: info.outputPath(`${what}.png`), fullPage: true })
      }
    }
}

/** Expects no violation of any of axe-core's rules, in the light, and with `npm test -- --whole` in the dark, too. */
export async function expectAccessible(...pages: Page[]): Promise<void> {
  for (const page of pages) await expectAccessiblePart(page, 'html')
}

/** The same of the part of a page that the selector matches: for what changed since the whole was checked. */
export async function expectAccessiblePart(page: Page, selector: string): Promise<void> {
  await injectAxe(page)
  for (const colorScheme of IS_THOROUGH ? COLOR_SCHEMES : [COLOR_SCHEMES[0]]) {
    await page.emulateMedia({ colorScheme })
    // "Legacy" is one run in the page itself, which is enough where nothing is framed, and quicker.
    const axe = new AxeBuilder({ page, axeSource: INJECTED })
      .setLegacyMode(true)
      .options(ONLY_VIOLATIONS)
      .include(selector)
    if (colorScheme !== COLOR_SCHEMES[0]) axe.withRules(RULES_OF_COLORS)
    const { violations } = await axe.analyze()
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html)}`)
    expect(found, `${page.url()}, ${colorScheme}`).toEqual([])
  }
}

/** Injects axe-core unless it is there: to do so costs ten times as much as to run it. */
async function injectAxe(page: Page): Promise<void> {
  if (await page.evaluate(() => 'axe' in globalThis)) return
  const session = await page.context().newCDPSession(page)
  await session.send('Runtime.evaluate', { expression: AXE_SOURCE })
  await session.detach()
}

/** Expects that only the page's own scripts run in it, and that no other page can frame it. */
export function expectStrictPolicy(policy: string | undefined): void {
  expect(policy).toMatch(/default-src 'none'/)
  expect(policy).toMatch(/frame-ancestors 'none'/)
  expect(policy).toMatch(/base-uri 'none'/)
  expect(policy).not.toMatch(/unsafe|\*|https:/)
}
