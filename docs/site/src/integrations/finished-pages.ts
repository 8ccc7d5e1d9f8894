// Finishes each page of HTML: it obeys a Content-Security-Policy without 'unsafe-inline' (a script within a page becomes a file, and a `style`
// attribute a class of a stylesheet), follows the system's colours where no script runs, and its tables and pictures scroll by themselves.
import { createHash } from 'node:crypto'
import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AstroIntegration } from 'astro'
import { type DefaultTreeAdapterTypes, defaultTreeAdapter, parse, serialize } from 'parse5'
import { PICTURES } from '../pages.ts'
import { root } from '../sections.ts'

const MARK = 'relay/web/public/favicon.svg'
/** Pages that few readers search for: the search shows them after others. */
const SECONDARY = /^(?:reference|decisions|internals|changelog|contributing)\//
const SECONDARY_WEIGHT = '0.25'

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
        copyFileSync(path.join(root, MARK), path.join(directory, 'favicon.svg'))
        copyPictures(path.join(directory, 'pictures'))
      },
    },
  }
}

function finishAll(directory: string, base: string): void {
  const write = (name: string, text: string): void => writeFileSync(path.join(directory, name), text)
  const taken: Taken = { scripts: new Map(), styles: new Map() }
  const pages = globSync('**/*.html', { cwd: directory }).map((file): [string, string] => {
    const html = readFileSync(path.join(directory, file), 'utf8')
    return [file, finish(html, { base, taken, isSecondary: SECONDARY.test(file) })]
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

type Element = DefaultTreeAdapterTypes.Element
type ParentNode = DefaultTreeAdapterTypes.ParentNode

interface FinishOptions {
  base: string
  taken: Taken
  isSecondary: boolean
}

function finish(html: string, { base, taken, isSecondary }: FinishOptions): string {
  const page = parse(html)
  const elements = [...elementsOf(page)]
  for (const element of elements) {
    takeScript(element, base, taken.scripts)
    takeStyle(element, taken.styles)
    if (element.tagName === 'html') take(element, 'data-theme')
    if (element.tagName === 'main' && isSecondary)
      element.attrs.push({ name: 'data-pagefind-weight', value: SECONDARY_WEIGHT })
  }
  const tables = elements.filter(({ tagName }) => tagName === 'table')
  for (const [index, table] of tables.entries()) frame(table, 'table-frame', `Table ${index + 1}`)
  const pictures = elements.filter((element) => pictureOf(element) !== undefined)
  for (const [index, picture] of pictures.entries()) {
    keepRoom(picture)
    frame(picture, 'picture-frame', `Picture ${index + 1}`)
  }
  return serialize(page)
}

function* elementsOf(parent: ParentNode): Generator<Element> {
  for (const node of parent.childNodes)
    if (defaultTreeAdapter.isElementNode(node)) {
      yield node
      yield* elementsOf('content' in node ? (node as DefaultTreeAdapterTypes.Template).content : node)
    }
}

/** Removes an attribute. @returns its value */
function take(element: Element, name: string): string | undefined {
  const found = element.attrs.find((one) => one.name === name)
  element.attrs = element.attrs.filter((one) => one !== found)
  return found?.value
}

function takeScript(element: Element, base: string, scripts: Map<string, string>): void {
  if (element.tagName !== 'script' || element.attrs.some(({ name }) => name === 'src')) return
  const content = element.childNodes
    .map((node) => (defaultTreeAdapter.isTextNode(node) ? node.value : ''))
    .join('')
  const name = `inline-${digestOf(content)}.js`
  scripts.set(name, content)
  element.attrs.push({ name: 'src', value: `${base}assets/${name}` })
  element.childNodes = []
}

function takeStyle(element: Element, styles: Map<string, string>): void {
  const style = take(element, 'style')
  // A script would show it by its own `style`, which does nothing to a class.
  if (style === undefined || /^display:\s*none;?$/.test(style)) return
  const name = `s-${digestOf(style)}`
  styles.set(name, style)
  const classes = take(element, 'class')
  element.attrs.push({ name: 'class', value: classes === undefined ? name : `${classes} ${name}` })
}

/** Expressive Code colours the words of code that have a `style`, which are those with a class here. */
function recognizeClasses(assets: string): void {
  for (const file of globSync('*.css', { cwd: assets }).map((name) => path.join(assets, name))) {
    const css = readFileSync(file, 'utf8')
    writeFileSync(file, css.replace(/\[style\^=['"]?--['"]?\]:not\(\[class\]\)/g, '[class^=s-]'))
  }
}

/** A table or code that is wider than the screen scrolls in a frame of its own, which the keyboard reaches. */
function frame(wide: Element, className: string, label: string): void {
  const attrs = Object.entries({ class: className, role: 'region', tabindex: '0', 'aria-label': label })
  const around = defaultTreeAdapter.createElement(
    // A picture stands in a paragraph, which holds no `div`.
    wide.tagName === 'img' ? 'span' : 'div',
    wide.namespaceURI,
    attrs.map(([name, value]) => ({ name, value })),
  )
  const parent = wide.parentNode
  if (parent === null) return
  defaultTreeAdapter.insertBefore(parent, around, wide)
  defaultTreeAdapter.detachNode(wide)
  defaultTreeAdapter.appendChild(around, wide)
}

/** @returns the file of an image of the pages, and undefined for any other element */
function pictureOf({ tagName, attrs }: Element): string | undefined {
  const source = attrs.find(({ name }) => name === 'src')?.value ?? ''
  return tagName === 'img' ? /\/pictures\/([\w-]+\.svg)$/.exec(source)?.[1] : undefined
}

/** Nothing moves when the picture comes, and what it plays begins when it is near. */
function keepRoom(image: Element): void {
  image.attrs.push({ name: 'loading', value: 'lazy' })
  const svg = readFileSync(path.join(root, PICTURES, pictureOf(image) ?? ''), 'utf8')
  for (const name of ['width', 'height']) {
    const value = svg.match(name === 'width' ? / width="(\d+)"/ : / height="(\d+)"/)?.[1]
    if (value !== undefined) image.attrs.push({ name, value })
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
