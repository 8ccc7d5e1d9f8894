// The documentation as a site: every page is in its sidebar, and its links and texts come from the files as they are.
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { groupCode } from '../../docs/site/src/integrations/code-groups.ts'
import { elementsOf, parse, serialize } from '../../docs/site/src/integrations/html-tree.ts'
import { findDeadLinks } from '../../docs/site/src/integrations/links.ts'
import { finishTable } from '../../docs/site/src/integrations/tables.ts'
import { pageOf, pictureAt, readPages, slugOf, withLinks } from '../../docs/site/src/pages.ts'
import { LABELS, SECTIONS } from '../../docs/site/src/sections.ts'
import { sidebar } from '../../docs/site/src/sidebar.ts'

const root = path.resolve(import.meta.dirname, '../..')
const FOLDERS = '{README.md,protocol.md,{guide,operate,internals,decisions}/*.md}'

describe('the sidebar', () => {
  const listed = SECTIONS.flatMap(({ pages }) => pages)

  test('has every page of docs once', () => {
    const files = globSync(`docs/${FOLDERS}`, { cwd: root })
    expect(listed.filter((file) => file.startsWith('docs/')).toSorted()).toEqual(files.toSorted())
  })

  test('names each page, and gives it an address of its own', () => {
    const items = sidebar().flatMap((group) => group.items)
    expect(items.filter(({ label }) => label === '')).toEqual([])
    expect(new Set(items.map(({ slug }) => slug)).size).toBe(listed.length)
    expect(Object.keys(LABELS).filter((file) => !listed.includes(file))).toEqual([])
  })

  test('leads to pages with a title and a description', () => {
    for (const { file, title, description } of readPages()) {
      expect({ file, title }).not.toEqual({ file, title: '' })
      expect(description.length, file).toBeGreaterThan(20)
      expect(description.length, file).toBeLessThanOrEqual(162)
      expect(`${title} ${description}`, file).not.toMatch(/[`*]|\]\(/)
    }
  })
})

test.each([
  ['docs/README.md', ''],
  ['docs/guide/http.md', 'guide/http'],
  ['docs/decisions/README.md', 'decisions'],
  ['SECURITY.md', 'security'],
])('%s is at "%s"', (file, slug) => {
  expect(slugOf(file)).toBe(slug)
})

test('a file without a title is no page', () => {
  expect(() => pageOf('a.md', 'text')).toThrow('a.md begins with no title')
})

describe('the links of a page', () => {
  const pages = new Map([
    ['docs/guide/http.md', '/docs/guide/http/'],
    ['docs/operate/dns.md', '/docs/operate/dns/'],
  ])
  const linked = (body: string): string =>
    withLinks({ file: 'docs/guide/http.md', body }, (file, anchor) => {
      const address = pages.get(file)
      return address === undefined ? pictureAt(file, '/docs/') : address + anchor
    })

  test.each([
    ['[DNS](../operate/dns.md)', '[DNS](/docs/operate/dns/)'],
    ['[two\nlines](../operate/dns.md#a-b)', '[two\nlines](/docs/operate/dns/#a-b)'],
    ['[`code`](../../relay/src/relay.ts) and [here](#x)', '`code` and [here](#x)'],
    ['![what it shows](../pictures/a.svg)', '![what it shows](/docs/pictures/a.svg)'],
    ['[web](https://example.com/a.md)', '[web](https://example.com/a.md)'],
  ])('%j becomes %j', (before, after) => {
    expect(linked(before)).toBe(after)
  })

  test('are no links in a block of code', () => {
    const code = 'a\n\n```md\n[DNS](../operate/dns.md)\n```\n'
    expect(linked(`${code}\n[DNS](../operate/dns.md)`)).toBe(`${code}\n[DNS](/docs/operate/dns/)`)
  })
})

describe('code that follows other code', () => {
  const block = (language: string, code: string): string =>
    `<div class="expressive-code"><pre data-language="${language}"></pre><button data-code="${code}"></button></div>\n`
  const namesIn = (html: string): string[] => {
    const page = parse(html)
    groupCode([...elementsOf(page)])
    return [...serialize(page).matchAll(/data-name="([^"]+)"/g)].map(([, name]) => `${name}`)
  }

  test.each([
    [
      'a page, svc and Node',
      block('html', '') + block('sh', 'svc') + block('ts', "from '@svc/sdk-node'"),
      ['Page', 'svc', 'Node'],
    ],
    ['an option and its flag', block('ts', '') + block('sh', 'svc'), ['JavaScript', 'svc']],
    ['the two installers', block('sh', 'curl') + block('powershell', 'irm'), ['Linux and macOS', 'Windows']],
    ['two of a kind, which are two examples', block('ts', '') + block('ts', ''), []],
    ['a file and the command after it, which are steps', block('toml', '') + block('sh', ''), []],
    ['code with a sentence between', `${block('ts', '')}<p>and</p>${block('sh', '')}`, []],
  ])('%s', (_, html, names) => expect(namesIn(html)).toEqual(names))
})

describe('a table', () => {
  const finished = (head: string[], row: string[]): string => {
    const cells = (tag: string, texts: string[]): string =>
      texts.map((text) => `<${tag}>${text}</${tag}>`).join('')
    const page = parse(
      `<table><thead><tr>${cells('th', head)}</tr></thead><tbody><tr>${cells('td', row)}</tr></tbody></table>`,
    )
    const table = [...elementsOf(page)].find(({ tagName }) => tagName === 'table')
    if (table) finishTable(table, 0)
    return serialize(page)
  }

  test('of options says which are needed, and keeps its roles', () => {
    const html = finished(
      ['option', 'default', 'what it does'],
      ['<code>relay</code>', 'needed', 'The relay.'],
    )
    expect(html).toContain(
      '<div class="table-frame" role="region" tabindex="0" aria-label="Table 1"><table class="table-options" role="table">',
    )
    expect(html).toContain('<td role="cell" data-label="default" class="is-needed">needed</td>')
  })

  test('of three columns has their names in each row', () => {
    expect(finished(['a', 'b', ''], ['1', '2', '3'])).toContain(
      '<td role="cell" data-label="a">1</td><td role="cell" data-label="b">2</td><td role="cell">3</td>',
    )
  })

  test('of two columns stays one', () => {
    expect(finished(['a', 'b'], ['1', '2'])).toContain('<table><thead>')
  })

  test('breaks a long name between its words', () => {
    expect(finished(['a', 'b'], ['<code>ADMIN_TOKEN</code>', '<code>svc expose a_b</code>'])).toContain(
      '<code>ADMIN_<wbr>TOKEN</code></td><td><code>svc expose a_b</code>',
    )
  })
})

describe('a build', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-docs-'))
  afterAll(() => rmSync(directory, { recursive: true }))

  test('finds links that lead nowhere', () => {
    const page = (links: string[]): string =>
      `<h2 id="here">x</h2>${links.map((href) => `<a title="a" href="${href}">x</a>`).join('')}&lt;a href="none"&gt;`
    mkdirSync(path.join(directory, 'a'))
    writeFileSync(
      path.join(directory, 'index.html'),
      page(['/docs/a/', 'a/#here', '/', '/docs/a.md', 'https://a.example']),
    )
    writeFileSync(path.join(directory, 'a.md'), '# A')
    writeFileSync(
      path.join(directory, 'a/index.html'),
      `${page(['#there', '/docs/b/', '/elsewhere', '../#here'])}<img alt="" src="/docs/pictures/none.svg">`,
    )
    expect(findDeadLinks(directory, '/docs/').toSorted()).toEqual([
      'a/index.html: #there',
      'a/index.html: /docs/b/',
      'a/index.html: /docs/pictures/none.svg',
      'a/index.html: /elsewhere',
    ])
  })
})
