// The example's journey: a Hono app as it is, with its middleware, forms, cookies, JSON and streams.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect } from './fixtures.ts'
import { exampleTest, expectAccessible, expectStrictPolicy, testAppearance } from './support/example-page.ts'

const hono = exampleTest('hono')

const STATUS = ['-o', '/dev/null', '-w', '%{http_code}']

wholeOnly(hono, 'variant')(
  'a visitor signs, is remembered by a cookie, and everybody sees it at once',
  async ({ example: { page, errors, address }, relay, visitor }) => {
    const url = await address()
    const answer = await visitor.goto(url)
    expectStrictPolicy(answer?.headers()['content-security-policy'])
    const follower = await visitor.context().newPage()
    await follower.goto(url)
    await visitor.getByLabel('Your name').fill('Ann <b>')
    await visitor.getByLabel('What you want to say').fill('<script>alert(1)</script>')
    await visitor.getByRole('button', { name: 'Sign' }).click()
    await expect(visitor.locator('article')).toContainText('<script>alert(1)</script>')
    await expect(visitor.getByLabel('Your name')).toHaveValue('Ann <b>')
    await expect(follower.locator('article')).toContainText('Ann <b>')
    const [cookie] = await visitor.context().cookies(url)
    expect(cookie).toMatchObject({ name: '__Host-name', httpOnly: true, secure: true, sameSite: 'Lax' })

    const entries = JSON.parse(String(await curl(relay.caFile, `${url}/api/entries`)))
    expect(entries).toMatchObject([{ id: 1, name: 'Ann <b>', text: '<script>alert(1)</script>' }])
    await page.getByRole('button', { name: 'Remove the entry of Ann <b>' }).click()
    await expect(page.locator('#waiting')).toBeVisible()
    await expect(follower.locator('article')).toHaveCount(0)
    expect(errors).toEqual([])
  },
)

wholeOnly(hono, 'faults')(
  'its middleware and its limits hold',
  async ({ example: { page, address }, relay }) => {
    const url = await address()
    const sign = (...args: string[]) => curl(relay.caFile, ...STATUS, ...args, `${url}/entries`)
    const own = ['-H', `Origin: ${url}`]
    expect(String(await sign('-H', 'Origin: https://other.example', '-d', 'name=a&text=b'))).toBe('403')
    expect(String(await sign(...own, '-d', 'name=a&text='))).toBe('400')
    expect(String(await sign(...own, '-d', `name=a&text=${'x'.repeat(281)}`))).toBe('400')
    expect(String(await sign(...own, '-d', `name=${'x'.repeat(41)}&text=b`))).toBe('400')
    expect(String(await sign(...own, '-d', 'x'.repeat(8 * 1024 + 1)))).toBe('413')
    const chunked = [...own, '-H', 'Transfer-Encoding: chunked']
    expect(String(await sign(...chunked, '-d', 'x'.repeat(8 * 1024 + 1)))).toBe('413')
    expect(String(await sign(...chunked, '-d', 'name=curl&text=hello'))).toBe('303')
    await expect(page.locator('#entries bdi')).toHaveText(['curl'])
    expect(String(await curl(relay.caFile, ...STATUS, `${url}/none`))).toBe('404')
    expect(String(await curl(relay.caFile, '-I', url))).toMatch(/^HTTP\/\S+ 200/)

    // ENTRIES_MAX
    const form = (i: number) => ['--next', '-s', '--cacert', relay.caFile, ...own, '-d', `name=n&text=${i}`]
    const all = Array.from({ length: 100 }, (_, i) => [...form(i), `${url}/entries`])
    await curl(relay.caFile, url, ...all.flat())
    await expect(page.locator('#entries li')).toHaveCount(100)
    await expect(page.locator('#entries bdi').last()).toHaveText('n')
  },
)

wholeOnly(hono, 'depth')('50 visitors follow, and no more', async ({ example: { address }, relay }) => {
  const url = await address()
  const live = ['--silent', '--no-buffer', '--cacert', relay.caFile, '--parallel', '--parallel-max', '50']
  const followers = spawn('curl', [...live, `${url}/live?[1-50]`])
  let output = ''
  followers.stdout.on('data', (chunk: Buffer) => {
    output += chunk
  })
  await expect.poll(() => output.match(/^data: 0$/gm)?.length).toBe(50)
  expect(String(await curl(relay.caFile, `${url}/live`))).toBe('Too many follow already\n')
  followers.kill()
  // The visitors who left made room, as soon as the site has heard of it.
  const next = async (): Promise<string> => {
    const follower = spawn('curl', ['--silent', '--no-buffer', '--cacert', relay.caFile, `${url}/live`])
    const [chunk] = await Promise.race([once(follower.stdout, 'data'), once(follower, 'close')])
    follower.kill()
    return String(chunk)
  }
  await expect.poll(next).toBe('data: 0\n\n')
})

testAppearance(hono, 'hono', 'Guestbook', async ({ visitor, url, relay }) => {
  await visitor.goto(url)
  await expectAccessible(visitor)
  const form = `name=${'LongName'.repeat(5)}&text=${'AnUnbreakablyLongWord'.repeat(8)}`
  await curl(relay.caFile, '-H', `Origin: ${url}`, '-d', form, `${url}/entries`)
  await expect(visitor.locator('article')).toBeVisible()
})
