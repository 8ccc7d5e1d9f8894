// The page of the local agent and the inspector look as in their pictures: `npm run e2e -- appearance --update` makes them anew.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from '@playwright/test'
import { freePort } from '../tools/network/free-port.ts'
import { curl } from '../tools/programs/curl.ts'
import type { TestRelay } from '../tools/relay/test-relay.ts'
import { expect } from './fixtures.ts'
import { type AgentProcess, startAgent } from './support/agent-process.ts'
import { looks } from './support/appearance.ts'
import { expectLook } from './support/baselines.ts'
import { startInspected } from './support/inspected-command.ts'
import { headingOf, requestsIn } from './support/inspector-page.ts'

/** The relay keeps the first for the agent before. */
const TUNNELS = ['shop', 'a-rather-long-name-too', 'notes', 'webhooks']

/** The tunnels lead to a port at which nobody listens. */
async function agentWith({ url, caFile }: TestRelay, names: readonly string[]): Promise<AgentProcess> {
  const tunnels = names.map((name) => `\n[[tunnel]]\nname = "${name}"\nhttp = 9\n`)
  return startAgent(
    `relay = "${url}"\nca = "${caFile}"\n\n[agent]\ncontrol_addr = "127.0.0.1:${await freePort()}"\n${tunnels.join('')}`,
  )
}

const tunnel = (page: Page, name: string) => page.getByRole('region', { name: new RegExp(`^${name}\\b`) })

looks("the agent's page: sign-in, no tunnel, one, many", async ({ page, relay }) => {
  const none = await agentWith(relay, [])
  await page.goto(none.url)
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()
  await expectLook(page, 'agent-sign-in')
  await page.goto(await none.pageWithTicket())
  await expect(page.getByRole('heading', { name: 'Tunnels', exact: true })).toBeVisible()
  await expectLook(page, 'agent-empty')
  await none.stop()
  const one = await agentWith(relay, ['shop'])
  await page.goto(await one.pageWithTicket())
  await expect(tunnel(page, 'shop').locator('.state')).toHaveText('online')
  await expectLook(page, 'agent')
  await page.getByRole('button', { name: 'Add a tunnel' }).click()
  await expectLook(page, 'agent-add')
  await page.getByText('Who may come in').click()
  await page.getByRole('button', { name: 'Add a user' }).click()
  await expectLook(page, 'agent-add-access', { of: page.getByRole('dialog') })
  await page.keyboard.press('Escape')
  await one.kill()
  await expect(page.getByText('The agent does not answer.')).toBeVisible()
  await expectLook(page, 'agent-unreachable')
  await one.stop()
  const many = await agentWith(relay, TUNNELS)
  await page.goto(await many.pageWithTicket())
  await expect(page.locator('.tunnel .state').filter({ hasText: 'online' })).toHaveCount(TUNNELS.length - 1)
  await expect(tunnel(page, 'shop')).toContainText('belongs to somebody else')
  await tunnel(page, 'notes').getByRole('button', { name: 'Pause' }).click()
  await expect(tunnel(page, 'notes').locator('.state')).toHaveText('paused')
  await expect(page.getByText('notes is paused.')).toBeHidden()
  await expectLook(page, 'agent-many', { fullPage: true })
  await many.stop()
})

looks('the inspector: none, many, one that is open, its dialogs', async ({ page, relay }) => {
  const { url, inspector, stop } = await startInspected(relay, 'inspected', await fixedTarget())
  await page.goto(inspector)
  await expect(page.getByText('No requests yet.')).toBeVisible()
  await expectLook(page, 'inspector-empty')
  const fields = ['-A', 'curl', '-H', 'Content-Type: application/json', '-H', 'Authorization: Bearer secret']
  for (const path of ['/hook?token=abc&x=1', '/hook?token=abc&x=2', `/${'a-long-path-'.repeat(12)}`])
    await curl(relay.caFile, ...fields, '-d', '{"event":"order.paid","total":"12.50"}', url + path)
  await curl(relay.caFile, '-A', 'curl', `${url}/missing`)
  await expect(requestsIn(page)).toHaveCount(4)
  await expectLook(page, 'inspector-many')
  await requestsIn(page).last().press('Enter')
  await expect(headingOf(page, 'POST /hook')).toBeVisible()
  await expectLook(page, 'inspector-request')
  await page.keyboard.press('e')
  await expect(page.getByRole('dialog', { name: 'Edit and replay' })).toBeVisible()
  await expectLook(page, 'inspector-edit')
  await page.keyboard.press('Escape')
  await page.keyboard.press('d')
  await expect(page.getByRole('dialog', { name: 'Compare answers' })).toBeVisible()
  await expectLook(page, 'inspector-compare')
  await stop()
})

/** @returns the address of a server whose answers are always the same */
async function fixedTarget(): Promise<string> {
  const server = createServer((request, response) => {
    response.sendDate = false
    response.statusCode = request.url === '/missing' ? 404 : 200
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ received: request.url }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
