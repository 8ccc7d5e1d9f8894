// A page whose clock is wrong, or is set while its site is up: the relay signs for it all the same.
import type { Page } from '@playwright/test'
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect, test } from './fixtures.ts'

const DAY_MS = 86_400_000

/** Sets the clock of a page: only `Date` changes. */
async function setClock(page: Page, aheadMs: number): Promise<void> {
  await page.evaluate((ahead) => {
    const real = Object.getPrototypeOf(Date) === Function.prototype ? Date : Object.getPrototypeOf(Date)
    globalThis.Date = class extends real {
      constructor(...given: []) {
        super(...((given.length === 0 ? [real.now() + ahead] : given) as []))
      }
      static now(): number {
        return real.now() + ahead
      }
    } as DateConstructor
  }, aheadMs)
}

function publish(page: Page, relay: string, name: string): Promise<string> {
  return page.evaluate(
    async ([relay, name]) =>
      (await svc.publish({ relay: relay!, name: name!, fetch: () => new Response(new Date().toISOString()) }))
        .url,
    [relay, name],
  )
}

for (const [what, ms, atStart, later] of [
  ['ahead', DAY_MS, test, wholeOnly(test, 'variant')],
  ['behind', -DAY_MS, wholeOnly(test, 'variant'), wholeOnly(test, 'variant')],
] as const) {
  atStart(`a clock that is a day ${what}`, async ({ relay, tenant }) => {
    await setClock(tenant, ms)
    const url = await publish(tenant, relay.url, `day-${what}`)
    const said = Date.parse(String(await curl(relay.caFile, url)))
    expect(Math.abs(said - Date.now() - ms)).toBeLessThan(60_000)
  })

  later(`a clock that is set, to a day ${what}, while the site is up`, async ({ relay, tenant }) => {
    const url = await publish(tenant, relay.url, `set-${what}`)
    await curl(relay.caFile, url)
    await setClock(tenant, ms)
    const said = Date.parse(String(await curl(relay.caFile, url)))
    expect(Math.abs(said - Date.now() - ms)).toBeLessThan(60_000)
  })
}
