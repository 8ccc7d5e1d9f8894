// The example's journey: visitors pay one cent of play money through a real tunnel, and see the answer.
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect } from './fixtures.ts'
import { exampleTest, expectStrictPolicy, testAppearance } from './support/example-page.ts'

const paid = exampleTest('paid')

paid(
  'a visitor pays one cent, once, and sees the answer; the seller sees the payment',
  async ({ example: { page, errors, address }, visitor }) => {
    const url = await address()
    await page.getByLabel('The question').fill('What is <b> in HTML?')
    await page.getByLabel('The answer').fill('Text that\nstands out <b>')
    const response = await visitor.goto(url)
    expectStrictPolicy(response?.headers()['content-security-policy'])
    await expect(visitor.getByRole('heading', { level: 1 })).toHaveText('What is <b> in HTML?')
    await expect(visitor.locator('#cents')).toHaveText('3 cents')
    await expect(visitor.locator('body')).not.toContainText('stands out')

    await visitor.getByRole('button', { name: 'Pay 1 cent' }).dblclick()
    await expect(visitor.locator('#answer')).toHaveText('Text that\nstands out <b>')
    await expect(visitor.locator('#cents')).toHaveText('2 cents')
    const receipt = await visitor.locator('#receipt').textContent()
    await expect(page.locator('#payments li')).toHaveCount(1)
    await expect(page.locator('#payments p')).toHaveText(`Payment ${receipt}`)
    await expect(page.locator('#earned')).toHaveText('1 cent')
    await expect(page.locator('#waiting')).toBeHidden()
    expect(errors).toEqual([])
  },
)

wholeOnly(paid, 'variant')(
  'who does not pay sees the price and no answer, and who has no money is told so',
  async ({ example: { page, address }, relay, visitor }) => {
    const url = await address()
    const unpaid = String(await curl(relay.caFile, '-i', `${url}/answer`))
    expect(unpaid).toMatch(/^HTTP\/\S+ 402 /)
    expect(unpaid).toMatch(/^payment-required: \S+/im)
    expect(JSON.parse(unpaid.slice(unpaid.indexOf('{')))).toMatchObject({
      x402Version: 2,
      error: 'payment_required',
      resource: { url: `${url}/answer` },
      accepts: [{ scheme: 'exact', network: 'sui:testnet', amount: '10000' }],
    })
    const status = ['-o', '/dev/null', '-w', '%{http_code}', '--path-as-is']
    for (const path of ['/answer/', '/%61nswer', '//answer', '/./answer'])
      expect(String(await curl(relay.caFile, ...status, `${url}${path}`)), path).toBe('402')
    expect((await visitor.goto(`${url}/answer`))?.status()).toBe(402)
    await expect(visitor.getByRole('heading')).toHaveText('This page costs 0.01 USDC of test money')

    await visitor.goto(url)
    const pay = visitor.getByRole('button', { name: 'Pay 1 cent' })
    for (const left of ['2 cents', '1 cent', '0 cents']) {
      await pay.click()
      await expect(visitor.locator('#cents')).toHaveText(left)
    }
    await pay.click()
    await expect(visitor.getByRole('alert')).toHaveText(
      'Your test wallet has not enough money. Nothing was charged.',
    )
    await expect(page.locator('#earned')).toHaveText('3 cents')
    await visitor.getByRole('button', { name: 'Get play money' }).click()
    await pay.click()
    await expect(page.locator('#earned')).toHaveText('4 cents')
    await expect(visitor.getByRole('alert')).toBeHidden()
  },
)

testAppearance(paid, 'paid', 'Sell an answer', async ({ page, visitor, url }) => {
  await page.getByLabel('The question').fill('AnUnbreakablyLongQuestion'.repeat(4))
  await page.getByLabel('The answer').fill('AnUnbreakablyLongAnswer'.repeat(20))
  await visitor.goto(url)
  await visitor.getByRole('button', { name: 'Pay 1 cent' }).click()
  await expect(visitor.locator('#answer')).toBeVisible()
  await expect(page.locator('#earned')).toHaveText('1 cent')
})
