// The default rate limits, and a developer who reloads the page all the time: they never lock the developer out.

import { chromiumOptions, createHome } from '../tools/browser/chromium.ts'
import { curl } from '../tools/programs/curl.ts'
import { startFixtureRelay } from '../tools/relay/fixture-relay.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect, openTenant, test } from './fixtures.ts'

const RELOADS = 12

wholeOnly(test, 'faults')(
  'a page that is reloaded twelve times in a minute is online again at once, each time',
  async ({ playwright, pageServer }) => {
    // An empty setting is the default; of the other the default spares clients on the relay's machine.
    const relay = await startFixtureRelay({ SOURCE_BUDGET_PER_MINUTE: '10', RELAY_BUDGET_PER_MINUTE: '' })
    const home = await createHome(relay.caFile)
    const browser = await playwright.chromium.launch(chromiumOptions(home.path))
    const tenant = await openTenant(await browser.newContext(), pageServer)
    const answers: number[] = []
    tenant.on('response', (response) => {
      if (response.url().startsWith(relay.url)) answers.push(response.status())
    })
    for (let visit = 0; visit <= RELOADS; visit++) {
      if (visit > 0) await tenant.reload()
      const url = await tenant.evaluate(
        async ([relay, answer]) => {
          const fetch = (): Response => new Response(answer)
          return (await svc.publish({ relay, name: 'reloaded-often', fetch })).url
        },
        [relay.url, `visit ${visit}`] as const,
      )
      expect(String(await curl(relay.caFile, url))).toBe(`visit ${visit}`)
    }
    // Without the refund the eleventh registration would be told to wait.
    expect(answers.length).toBeGreaterThan(RELOADS)
    expect(answers.filter((status) => status >= 400)).toEqual([])
    await browser.close()
    await home.remove()
    await relay.stop()
  },
)
