// The owner of an agent shares a tunnel in the agent's page: a link lets a visitor in, is listed with its use, and is withdrawn.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from './fixtures.ts'
import { startAgent } from './support/agent-process.ts'
import { expectAccessible } from './support/example-page.ts'
import { openWeb } from './support/relay-page.ts'

const PHONE = { width: 360, height: 740 }

test('a link of the page lets in once, is shown once, and is withdrawn', async ({
  relay,
  browser,
  visitor,
}) => {
  const server = createServer((_request, response) => response.end('from the target'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const tunnels = `[[tunnel]]\nname = "agent-open"\nhttp = ${port}\n[[tunnel]]\nname = "agent-shares"\nhttp = ${port}\n[tunnel.access]\npassword = "open sesame"\n`
  const agent = await startAgent(
    `relay = "${relay.url}"\nca = "${relay.caFile}"\n[agent]\ncontrol_addr = "127.0.0.1:0"\n${tunnels}`,
  )
  const context = await browser.newContext({ viewport: PHONE })
  try {
    const { page, errors } = await openWeb(context, await agent.pageWithTicket())
    await page.getByRole('button', { name: 'Share agent-shares' }).click()
    await expect(page.getByRole('button', { name: 'Share agent-open' })).toHaveCount(0)
    const dialog = page.getByRole('dialog', { name: 'Share links of agent-shares' })
    await expect(dialog.getByText('There are no links.')).toBeVisible()
    await dialog.getByLabel('For whom it is').fill('Bob')
    await dialog.getByLabel('It ends').selectOption('after a day')
    await dialog.getByLabel('It signs in once').check()
    await dialog.getByRole('button', { name: 'Make a link' }).click()
    const link = (await dialog.locator('code').textContent()) ?? ''
    expect(link).toMatch(/^https:\/\/agent-shares\..*#svc-share=/)
    const listed = dialog.getByRole('listitem')
    await expect(listed).toContainText('for one sign-in · ends in 24 hr. · not used')
    await expectAccessible(page)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await dialog.getByRole('button', { name: 'Copy the link' }).click()
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(link)

    await visitor.goto(link)
    await expect(visitor.getByText('from the target')).toBeVisible()
    await expect(listed).toContainText('1 sign-in · last')
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Share agent-shares' }).click()
    await expect(listed).toContainText('Bob')
    await expect(page.getByText('svc-share=')).toHaveCount(0)
    await dialog.getByRole('button', { name: 'Withdraw Bob' }).click()
    await expect(dialog.getByText('There are no links.')).toBeVisible()
    await visitor.reload()
    await expect(visitor.getByLabel('Password')).toBeVisible()
    expect(errors).toEqual([])
  } finally {
    await context.close()
    await agent.stop()
    server.close()
  }
})
