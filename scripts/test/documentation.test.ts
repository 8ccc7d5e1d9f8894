// The pages of the documentation: each link leads somewhere, and each decision has the form that the index describes.
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8')
const list = ['ls-files', '--cached', '--others', '--exclude-standard', '*.md']
const pages = execFileSync('git', list, { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(path.join(root, file)))

test('every link between pages leads to a file, and to a heading of it', () => {
  expect(pages.flatMap(deadLinks)).toEqual([])
})

test('the documentation has at most 60,000 words', () => {
  const texts = pages.filter((file) => file.startsWith('docs/')).map(read)
  expect(texts.join('\n').split(/\s+/).length).toBeLessThanOrEqual(60_000)
})

test('every path of the repository that a page names is there', () => {
  const folders =
    '(?:protocol|yamux|tls|payment|node-kit|dns|relay|sdk-core|sdk-browser|sdk-node|examples|e2e|bench|scripts|docs|tools)'
  const named = new RegExp(`\`(${folders}/[\\w./-]+)\``, 'g')
  const missing = pages.flatMap((file) =>
    [...read(file).matchAll(named)]
      .map(([, name = '']) => name)
      .filter((name) => !isNoFile(name) && !existsSync(path.join(root, name)))
      .map((name) => `${file}: ${name}`),
  )
  expect(missing).toEqual([])
})

test('every decision has a number, a date, a status and a line in the index', () => {
  const decisions = globSync('docs/decisions/0*.md', { cwd: root }).sort()
  const rows = decisions.map((file) => {
    const [heading = '', blank, line = ''] = read(file).split('\n')
    const [, number, title] = heading.match(/^# (\d{4})\. (.+)$/) ?? []
    const [, date, status] = line.match(/^(\d{4}-\d\d-\d\d), ((?:accepted|superseded).*)$/) ?? []
    expect({ file, blank, number, dated: date !== undefined }).toEqual({
      file,
      blank: '',
      number: path.basename(file).slice(0, 4),
      dated: true,
    })
    return `- [${number}. ${title}](${path.basename(file)})${status === 'accepted' ? '' : `, ${status}`}`
  })
  const index = read('docs/decisions/README.md').split('\n')
  expect(index.filter((line) => line.startsWith('- [0'))).toEqual(rows)
})

/** A folder that a command makes, or an entry of a package. */
function isNoFile(name: string): boolean {
  return /^(?:relay\/(?:pages|documentation)|sdk-node\/page|tls\/(?:messages|der))(?:\/|$)/.test(name)
}

function deadLinks(file: string): string[] {
  const links = [...withoutCode(read(file)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return links
    .filter((target) => !/^[a-z]+:/.test(target) && !leads(target, file))
    .map((target) => `${file}: ${target}`)
}

function leads(target: string, from: string): boolean {
  const [file = '', anchor] = target.split('#')
  const found = file === '' ? from : path.join(path.dirname(from), file)
  if (!existsSync(path.join(root, found))) return false
  return anchor === undefined || anchorsOf(read(found)).includes(anchor)
}

/** The anchors that GitHub makes of headings. */
function anchorsOf(text: string): string[] {
  const headings = [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function withoutCode(text: string): string {
  return text
    .split(/^```/m)
    .filter((_, index) => index % 2 === 0)
    .join('')
}

test('every folder of a package has a sentence in docs/internals/architecture.md', () => {
  const architecture = read('docs/internals/architecture.md')
  const folders = globSync('{relay/src/{core,features},{sdk-core,sdk-browser,sdk-node,tls}/src}/*/', {
    cwd: root,
  })
  expect(folders.length).toBeGreaterThan(40)
  const missing = folders.filter((folder) => !architecture.includes(`(../../${path.join(folder, '.')}): `))
  expect(missing).toEqual([])
})
