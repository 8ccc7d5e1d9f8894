// Set-Cookie on a Response whose own headers, as in a page, drop it (Fetch: forbidden response-header name).

import { expect, test } from 'vitest'
import { withCookies } from '../../src/handlers/cookies.ts'
import { converse } from '../http1/visitor.ts'

const COOKIES = ['a=b; Path=/; HttpOnly', 'c=d']

test('each cookie has a line of its own, after what was there, and the body is as it was', async () => {
  const answer = await converse('GET / HTTP/1.1\r\nHost: site.example\r\n\r\n', () =>
    withCookies(new Response('ok', { headers: { 'x-a': '1' } }), COOKIES),
  )
  expect(answer).toContain('\r\nset-cookie: a=b; Path=/; HttpOnly\r\nset-cookie: c=d\r\nx-a: 1\r\n')
  expect(answer).toMatch(/\r\n\r\nok$/)
})

test('a redirect, whose headers cannot be changed, can set them, and a clone keeps them', () => {
  const response = withCookies(Response.redirect('https://site.example/'), COOKIES)
  expect(response.clone().clone().headers.getSetCookie()).toEqual(COOKIES)
  expect(response.headers.get('location')).toBe('https://site.example/')
  expect(withCookies(response, ['e=f']).headers.getSetCookie()).toEqual([...COOKIES, 'e=f'])
})

test.each(['', 'a', '=b', 'a=b\r\nx: y', 'a=b\0', 'a\t=b', 'a=\x7f'])(
  'RFC 6265 §4.1.1 %j is no cookie',
  (cookie) => {
    expect(() => withCookies(new Response(), [cookie])).toThrow('name=value')
  },
)
