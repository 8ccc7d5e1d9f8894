// Checks an app with a login that an adapter of the SDK built: each framework's app passes the same journey.
import type { Page } from '@playwright/test'
import { curl } from '../../tools/programs/curl.ts'
import { expect } from '../fixtures.ts'

const COOKIE = '__Host-session'

/** Logs in by a form, finds the name again by a cookie, through reloads, and logs out. */
export async function expectLogin(visitor: Page, url: string): Promise<void> {
  const errors: string[] = []
  visitor.on('pageerror', (error) => errors.push(error.message))
  await visitor.goto(url)
  await expect(visitor.getByRole('heading')).toHaveText('Who are you?')
  await visitor.getByLabel('Your name').fill('Ann <b>')
  await visitor.getByRole('button', { name: 'Log in' }).click()
  await expect(visitor.getByRole('heading')).toHaveText('Hello, Ann <b>')
  const [cookie] = await visitor.context().cookies(url)
  expect(cookie).toMatchObject({ name: COOKIE, httpOnly: true, secure: true, sameSite: 'Lax' })
  await visitor.reload()
  await expect(visitor.getByRole('heading')).toHaveText('Hello, Ann <b>')
  // the framework's own script came, and runs
  const counter = visitor.getByRole('button', { name: 'Clicked' })
  await expect(async () => {
    await counter.click()
    await expect(counter).not.toHaveText('Clicked 0×', { timeout: 500 })
  }).toPass()
  await visitor.getByRole('button', { name: 'Log out' }).click()
  await expect(visitor.getByRole('heading')).toHaveText('Who are you?')
  expect(await visitor.context().cookies(url)).toEqual([])
  await visitor.reload()
  await expect(visitor.getByRole('heading')).toHaveText('Who are you?')
  expect(errors).toEqual([])
}

/**
 * The same without a browser, which sends no script's request: the form's POST is answered with a cookie and a redirect.
 * @param actions the paths of the forms that log in and out
 */
export async function expectLoginByCurl(
  caFile: string,
  url: string,
  actions: { login: string; logout: string },
): Promise<void> {
  const asForm = ['-H', `Origin: ${url}`, '-H', 'Accept: text/html']
  const post = async (path: string, form: string, ...more: string[]): Promise<string> =>
    String(await curl(caFile, '-i', ...asForm, ...more, '-d', form, `${url}${path}`))
  const answer = await post(actions.login, 'name=curl')
  expect(answer).toMatch(/^HTTP\/\S+ 30[23]/)
  expect(answer).toMatch(/^location: \/\r$/im)
  const secret = answer.match(/^set-cookie: __Host-session=([^;]+);.*HttpOnly/im)?.[1]
  const cookie = ['-H', `Cookie: ${COOKIE}=${secret}`]
  expect(String(await curl(caFile, ...cookie, url))).toContain('Hello, curl')
  expect(String(await curl(caFile, url))).toContain('Who are you?')
  expect(await post(actions.login, `name=${'x'.repeat(41)}`)).toContain('at most 40 characters')
  expect(await post(actions.logout, 'intent=logout', ...cookie)).toMatch(
    /^set-cookie: __Host-session=(?:deleted)?;/im,
  )
  expect(String(await curl(caFile, ...cookie, url))).toContain('Who are you?')
}

/** A form that a page of another site sends is refused. Frameworks do so before they read it. */
export async function expectForeignFormRefused(
  caFile: string,
  action: string,
  status: '400' | '403',
): Promise<void> {
  const onlyStatus = ['-o', '/dev/null', '-w', '%{http_code}']
  const foreign = ['-H', 'Origin: https://other.example', '-d', 'name=a']
  expect(String(await curl(caFile, ...onlyStatus, ...foreign, action))).toBe(status)
}

/** Scripts and style sheets that the page names have their types, are kept for ever, and are not sent again. */
export async function expectAssets(visitor: Page, caFile: string, url: string): Promise<void> {
  const loaded = new Map<string, string>()
  visitor.on('response', (response) => {
    const type = response.headers()['content-type'] ?? ''
    if (/script|stylesheet/.test(response.request().resourceType())) loaded.set(type, response.url())
  })
  await visitor.goto(url, { waitUntil: 'load' })
  await expect
    .poll(() => [...loaded.keys()].sort())
    .toEqual(['text/css; charset=utf-8', 'text/javascript; charset=utf-8'])
  for (const [type, asset] of loaded) {
    const head = String(await curl(caFile, '-I', asset)).toLowerCase()
    expect(head).toMatch(/^http\/\S+ 200/)
    expect(head).toContain(`\r\ncontent-type: ${type}\r\n`)
    expect(head).toContain('\r\ncache-control: public, max-age=31536000, immutable\r\n')
    const etag = head.match(/^etag: (.+)\r$/m)?.[1]
    const again = String(await curl(caFile, '-i', '-H', `If-None-Match: ${etag}`, asset))
    expect(again).toMatch(/^HTTP\/\S+ 304/)
  }
  const missing = String(await curl(caFile, '-o', '/dev/null', '-w', '%{http_code}', `${url}/none.js`))
  expect(missing).toBe('404')
}
