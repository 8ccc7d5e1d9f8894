// Finishes each page of HTML: it obeys a Content-Security-Policy without 'unsafe-inline' (a script within a page becomes a file, and a `style`
// attribute a class of a stylesheet), follows the system's colours where no script runs, and its tables and pictures scroll by themselves.
import { createHash } from 'node:crypto'
import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AstroIntegration } from 'astro'
import { PICTURES } from '../pages.ts'
import { root } from '../sections.ts'
import { groupCode } from './code-groups.ts'
import {
  addClass,
  append,
  attributeOf,
  childrenOf,
  type Document,
  type Element,
  elementLike,
  elementsOf,
  parse,
  serialize,
  setAttributes,
  takeAttribute,
  textOf,
} from './html-tree.ts'
import { finishTable, frame } from './tables.ts'

const MARK = 'relay/web/public/favicon.svg'
/** Pages that few readers search for: the search shows them after others. */
const SECONDARY = /^(?:reference|decisions|internals|changelog|contributing)\//
const SECONDARY_WEIGHT = '0.25'
/** The font of the pages, as Vite names it. */
const FONT = 'assets/figtree-latin-wght-normal*.woff2'

export function finishedPages(): AstroIntegration {
  let base = '/'
  return {
    name: 'finished-pages',
    hooks: {
      'astro:config:done': ({ config }) => {
        base = config.base.replace(/\/?$/, '/')
      },
      'astro:build:done': ({ dir }) => {
        const directory = fileURLToPath(dir)
        finishAll(directory, base)
        recognizeClasses(path.join(directory, 'assets'))
        reachCode(path.join(directory, 'assets'))
        copyFileSync(path.join(root, MARK), path.join(directory, 'favicon.svg'))
        copyPictures(path.join(directory, 'pictures'))
      },
    },
  }
}

function finishAll(directory: string, base: string): void {
  const write = (name: string, text: string): void => writeFileSync(path.join(directory, name), text)
  const taken: Taken = { scripts: new Map(), styles: new Map() }
  const [font = ''] = globSync(FONT, { cwd: directory })
  const pages = globSync('**/*.html', { cwd: directory }).map((file): [string, string] => {
    const html = readFileSync(path.join(directory, file), 'utf8')
    return [file, finish(html, { base, taken, isSecondary: SECONDARY.test(file), font })]
  })
  const css = [...taken.styles].map(([name, style]) => `.${name}{${style}}`).join('\n')
  const sheet = `assets/styles-${digestOf(css)}.css`
  write(sheet, css)
  for (const [name, content] of taken.scripts) write(`assets/${name}`, content)
  for (const [file, page] of pages)
    write(file, page.replace('</head>', `<link rel="stylesheet" href="${base}${sheet}"></head>`))
}

interface Taken {
  /** Contents by name. */
  scripts: Map<string, string>
  /** Declarations by class. */
  styles: Map<string, string>
}

interface FinishOptions {
  base: string
  taken: Taken
  isSecondary: boolean
  /** The file of the font, below the site. */
  font: string
}

function finish(html: string, { base, taken, isSecondary, font }: FinishOptions): string {
  const page = parse(html)
  const elements = [...elementsOf(page)]
  for (const element of elements) {
    takeScript(element, base, taken.scripts)
    takeStyle(element, taken.styles)
    if (element.tagName === 'html') takeAttribute(element, 'data-theme')
    if (element.tagName === 'main' && isSecondary)
      setAttributes(element, { 'data-pagefind-weight': SECONDARY_WEIGHT })
    if (element.tagName === 'ul' && isCards(element)) addClass(element, 'cards')
  }
  const tables = elements.filter(({ tagName }) => tagName === 'table')
  for (const [index, table] of tables.entries()) finishTable(table, index)
  const pictures = elements.filter((element) => pictureOf(element) !== undefined)
  for (const [index, picture] of pictures.entries()) {
    keepRoom(picture)
    frame(picture, 'picture-frame', `Picture ${index + 1}`)
  }
  groupCode(elements)
  finishHead(page, `${base}${font}`)
  return serialize(page)
}

/** Nothing is drawn twice: styles of a part of the page come before it, and the font is asked for at once. */
function finishHead(page: Document, font: string): void {
  const elements = [...elementsOf(page)]
  const head = elements.find(({ tagName }) => tagName === 'head')
  if (head === undefined) return
  const own = childrenOf(head)
  for (const element of elements)
    if (attributeOf(element, 'rel') === 'stylesheet' && !own.includes(element)) append(head, element)
  const attributes = { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: '', href: font }
  append(head, elementLike(head, 'link', attributes))
}

/** A list whose items are a link, and a paragraph about it. */
function isCards(list: Element): boolean {
  const items = childrenOf(list)
  return (
    items.length > 1 &&
    items.every((item) => childrenOf(item).length === 2 && isLinkAndText(childrenOf(item)))
  )
}

function isLinkAndText([title, text]: Element[]): boolean {
  if (title?.tagName !== 'p' || text?.tagName !== 'p') return false
  const [link] = childrenOf(title)
  return link?.tagName === 'a' && textOf(title) === textOf(link)
}

function takeScript(element: Element, base: string, scripts: Map<string, string>): void {
  if (element.tagName !== 'script' || attributeOf(element, 'src') !== undefined) return
  const content = textOf(element)
  const name = `inline-${digestOf(content)}.js`
  scripts.set(name, content)
  setAttributes(element, { src: `${base}assets/${name}` })
  element.childNodes = []
}

function takeStyle(element: Element, styles: Map<string, string>): void {
  const style = takeAttribute(element, 'style')
  // A script would show it by its own `style`, which does nothing to a class.
  if (style === undefined || /^display:\s*none;?$/.test(style)) return
  const name = `s-${digestOf(style)}`
  styles.set(name, style)
  addClass(element, name)
}

/**
 * Code that scrolls is to Expressive Code a region without a name, of which a page has many: landmarks have names. It becomes
 * reachable by keyboard in an idle moment, which does not come while nothing is drawn: a timer does.
 */
function reachCode(assets: string): void {
  for (const file of globSync('ec.*.js', { cwd: assets }).map((name) => path.join(assets, name))) {
    const text = readFileSync(file, 'utf8').replace('"role","region"', '"role","group"')
    writeFileSync(file, text.replaceAll(/window\.(?:request|cancel)IdleCallback\|\|/g, ''))
  }
}

/** Expressive Code colours the words of code that have a `style`, which are those with a class here. */
function recognizeClasses(assets: string): void {
  for (const file of globSync('*.css', { cwd: assets }).map((name) => path.join(assets, name))) {
    const css = readFileSync(file, 'utf8')
    writeFileSync(file, css.replace(/\[style\^=['"]?--['"]?\]:not\(\[class\]\)/g, '[class^=s-]'))
  }
}

/** @returns the file of an image of the pages, and undefined for any other element */
function pictureOf(element: Element): string | undefined {
  const source = attributeOf(element, 'src') ?? ''
  return element.tagName === 'img' ? /\/pictures\/([\w-]+\.svg)$/.exec(source)?.[1] : undefined
}

/** Nothing moves when the picture comes, and what it plays begins when it is near. */
function keepRoom(image: Element): void {
  setAttributes(image, { loading: 'lazy' })
  const svg = readFileSync(path.join(root, PICTURES, pictureOf(image) ?? ''), 'utf8')
  for (const name of ['width', 'height']) {
    const value = svg.match(name === 'width' ? / width="(\d+)"/ : / height="(\d+)"/)?.[1]
    if (value !== undefined) setAttributes(image, { [name]: value })
  }
}

function copyPictures(directory: string): void {
  mkdirSync(directory, { recursive: true })
  for (const file of globSync(`${PICTURES}*.svg`, { cwd: root }))
    copyFileSync(path.join(root, file), path.join(directory, path.basename(file)))
}

/** Eight characters, as the relay knows names that change with their content. */
function digestOf(content: string): string {
  return createHash('sha256').update(content).digest('base64url').replace(/\W/g, 'x').slice(0, 8)
}
