// The documents look like the relay's pages: their colours, sizes and mark are the same.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DOCUMENT_STYLE, documentHtml } from '../src/documents.ts'

const pages = new URL('../../relay/web/', import.meta.url)

/** Returns the custom properties of a style sheet, without spaces that mean nothing. */
function tokensOf(style: string): Map<string, string> {
  const found = style.matchAll(/(--[\w-]+):\s*([^;]+);/g)
  return new Map([...found].map(([, name = '', value = '']) => [name, value.replaceAll(/\s+/g, ' ')]))
}

test('each token of the documents has the value of the pages', () => {
  const tokens = tokensOf(readFileSync(new URL('src/style/tokens.css', pages), 'utf8'))
  const used = tokensOf(DOCUMENT_STYLE)
  expect(used.size).toBeGreaterThan(15)
  for (const [name, value] of used) expect([name, value]).toEqual([name, tokens.get(name)])
})

test('each token that a rule uses has a value', () => {
  const used = [...DOCUMENT_STYLE.matchAll(/var\((--[\w-]+)\)/g)].map(([, name]) => name)
  expect(used.filter((name) => !DOCUMENT_STYLE.includes(`${name}:`))).toEqual([])
})

test('the colours of the browser and the mark are those of the pages', () => {
  const html = documentHtml({ title: '<a>', main: '<h1>Hello</h1>' })
  const mark = / d="([^"]+)"/.exec(readFileSync(new URL('public/favicon.svg', pages), 'utf8'))?.[1]
  expect(html).toContain(`d="${mark}"`)
  const front = readFileSync(new URL('index.html', pages), 'utf8')
  const colours = front.matchAll(/name="theme-color" (content="#\w+" media="[^"]+")/g)
  for (const [, colour = ''] of colours) expect(html).toContain(colour)
  expect(html).toContain('<title>&#60;a&#62;</title>')
})

test('a document without a script, an icon or a home loads nothing and leads nowhere', () => {
  expect(documentHtml({ title: 'Away', main: '', icon: '' })).not.toMatch(
    /<script|https?:|<link|<img|<a |url\(/,
  )
})
