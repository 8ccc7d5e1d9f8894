// One sentence, as a document to a person and as a line to a program.

import { expect, test } from 'vitest'
import { files } from '../../src/handlers/files.ts'
import { lineOrPageContent } from '../../src/handlers/line-or-page.ts'
import { ask } from './ask.ts'

const handler = files(new Map<string, File>())

test.each<[who: string, headers: Record<string, string>]>([
  ['a browser', { Accept: 'text/html,*/*;q=0.8', 'Sec-Fetch-Mode': 'navigate' }],
  ['an old browser', { Accept: 'text/html,*/*;q=0.8' }],
])('%s gets a page with a language and a title, which loads nothing', async (_who, headers) => {
  const response = await ask(handler, '/none', { headers })
  expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(response.headers.get('vary')).toBe('Accept, Sec-Fetch-Mode')
  expect(await response.text()).toMatch(/<html lang="en">.*<title>Not found<\/title>.*<h1>Not found<\/h1>/s)
})

test.each<[who: string, headers: Record<string, string>]>([
  ['a program', {}],
  ['curl', { Accept: '*/*' }],
  ['a script of a page', { Accept: 'text/html', 'Sec-Fetch-Mode': 'cors' }],
  ['an image of a page', { Accept: 'image/*', 'Sec-Fetch-Mode': 'no-cors' }],
])('%s gets a line of text', async (_who, headers) => {
  const response = await ask(handler, '/none', { headers })
  expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/plain;charset=UTF-8'])
  expect(await response.text()).toBe('Not found\n')
})

test('fields have any case, and a host of the visitor is text', () => {
  const url = { host: '<b>' } as URL
  const { content, fields } = lineOrPageContent('Down', { url, fields: [['ACCEPT', 'text/html']] }, 502)
  expect(content).toContain('>&#60;b&#62;</a>')
  expect(fields).toContainEqual(['content-type', 'text/html; charset=utf-8'])
})
