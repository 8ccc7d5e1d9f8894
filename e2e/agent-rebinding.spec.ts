// Pages of the web that reach for the local agent in a browser: by a name that leads to this machine (DNS rebinding), and by its
// address.

import { chromiumOptions, createHome } from '../tools/browser/chromium.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect } from './fixtures.ts'
import { type AgentProcess, startAgent } from './support/agent-process.ts'

const REBOUND = 'rebound.example'
const ARGS = [
  `--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`,
  // the agent has to keep such pages out by itself: not every browser does
  '--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWarn',
]

const test = base.extend<{ agent: AgentProcess }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are needed
  agent: async ({}, use) => {
    const agent = await startAgent('[agent]\ncontrol_addr = "127.0.0.1:0"\n')
    await use(agent)
    await agent.stop()
  },
  browser: async ({ playwright }, use) => {
    const home = await createHome()
    const options = chromiumOptions(home.path)
    const browser = await playwright.chromium.launch({ ...options, args: [...options.args!, ...ARGS] })
    await use(browser)
    await browser.close()
    await home.remove()
  },
})

wholeOnly(test, 'variant')(
  'a page whose name was rebound to this machine is misdirected at each path, with a ticket, too',
  async ({ agent, browser }) => {
    const { port } = new URL(agent.url)
    const origin = `http://${REBOUND}:${port}`
    const page = await browser.newPage()
    // its own server answered this; from here on its name leads to the agent
    await page.route(`${origin}/`, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<title>evil</title>' }),
    )
    await page.goto(`${origin}/`)
    const ticket = new URL(await agent.pageWithTicket()).hash.slice('#ticket='.length)
    const answers = await page.evaluate(async (ticket) => {
      const json = { method: 'POST', headers: { 'Content-Type': 'application/json' } }
      const asked = [
        fetch('/agent/auth/status'),
        fetch('/agent/status', { headers: { Authorization: 'Bearer a' } }),
        fetch('/agent/auth/redeem', { ...json, body: JSON.stringify({ ticket }) }),
        fetch('/agent/shutdown', { ...json, body: '{}' }),
        fetch('/index.html'),
      ]
      return Promise.all(asked.map(async (answer) => (await answer).status))
    }, ticket)
    expect(answers).toEqual([421, 421, 421, 421, 421])
    await page.close()
  },
)

test('a page of another site reads nothing at the agent’s address, and changes nothing', async ({
  agent,
  browser,
}) => {
  const page = await browser.newPage()
  const origin = 'http://evil.example'
  await page.route(`${origin}/`, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<title>evil</title>' }),
  )
  await page.goto(`${origin}/`)
  const outcomes = await page.evaluate(async (url) => {
    const outcome = (answer: Promise<Response>) =>
      answer.then(
        ({ type, status }) => `${type} ${status}`,
        () => 'failed',
      )
    return [
      await outcome(fetch(`${url}/agent/auth/status`)),
      await outcome(
        fetch(`${url}/agent/shutdown`, {
          method: 'POST',
          body: '{}',
          headers: { 'Content-Type': 'application/json' },
        }),
      ),
      await outcome(fetch(`${url}/agent/shutdown`, { method: 'POST', body: '{}', mode: 'no-cors' })),
    ]
  }, agent.url)
  expect(outcomes.slice(0, 2)).toEqual(['failed', 'failed'])
  // an opaque answer tells nothing, and a browser may refuse even that
  expect(['opaque 0', 'failed']).toContain(outcomes[2])
  await page.goto(await agent.pageWithTicket())
  await expect(page).toHaveURL(`${agent.url}/`)
  await page.close()
})
