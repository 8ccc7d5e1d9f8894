// The tour: a tab publishes a note, a visitor reads it, and the relay shows what passed through it.
import type { BrowserContext, Page } from '@playwright/test'
import type { Narrator } from './narrator.ts'

const NOTE = 'Hello from a browser tab'
const CHANGED = 'Changed while you watched'
const RELOADS_MAX = 10
/** The visitor's window, of a phone's size, beside the other. */
const VISITOR_WINDOW = 'popup,noopener,left=1140,top=40,width=420,height=760'

export async function playTour(browser: BrowserContext, relay: string, narrator: Narrator): Promise<void> {
  const landing = browser.pages()[0] ?? (await browser.newPage())
  await landing.goto(relay)
  await narrator.say(
    landing,
    'This is the page of your relay. It runs on this machine, and this browser trusts it.',
  )
  const note = landing.getByLabel('Text or HTML')
  await narrator.point(note)
  await narrator.say(landing, 'A note, to begin with. It stays in this tab: nothing is uploaded.')
  await narrator.type(note, NOTE)
  await landing.getByRole('button', { name: 'Publish', exact: true }).click()
  const address = landing.locator('.address a')
  await landing.locator('.publish .state[data-state="online"]').waitFor()
  const url = `${await address.textContent()}`
  await narrator.point(address)
  await narrator.say(landing, `The tab is a web server now: ${url}`)

  const visitor = await openVisitor(browser, landing, url)
  await narrator.say(visitor, 'A visitor opens the address. The tab answers, through the relay.')
  const bytes = landing.locator('.hexdump')
  await narrator.point(bytes)
  await narrator.say(
    landing,
    `The relay carried these bytes, and cannot read them: ${firstBytes(await bytes.textContent())} …`,
  )
  await narrator.point(landing.locator('.request'))
  await narrator.say(landing, 'This is the same request where TLS ends: in the tab.')

  await narrator.type(landing.getByLabel('Text or HTML'), CHANGED)
  await reloadUntil(visitor, CHANGED)
  await narrator.say(
    visitor,
    'The note has changed, and so has the next answer. When the tab closes, the site is gone.',
  )
}

/** The visit and what was typed reach the tab on different ways: the first visit may be before the last key. */
async function reloadUntil(visitor: Page, text: string): Promise<void> {
  for (let left = RELOADS_MAX; left > 0; left--) {
    await visitor.reload()
    if (await visitor.getByText(text).isVisible()) return
  }
  throw new Error(`the visitor does not see “${text}”`)
}

async function openVisitor(browser: BrowserContext, landing: Page, url: string): Promise<Page> {
  const [visitor] = await Promise.all([
    browser.waitForEvent('page'),
    landing.evaluate(`void open('${url}', '_blank', '${VISITOR_WINDOW}')`),
  ])
  await visitor.getByText(NOTE).first().waitFor()
  return visitor
}

/** The bytes of the first line: after its offset, before what they are as text. */
function firstBytes(hexdump: string | null): string {
  return /(?: [\da-f]{2})+/.exec(`${hexdump}`)?.[0].trim() ?? ''
}
