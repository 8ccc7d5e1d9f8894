// Code that says the same in several ways (in a page, in Node, by `svc`) and stands one after the other in a text becomes tabs. Without a
// script, and on paper, each has its name above it.
import {
  append,
  attributeOf,
  type Element,
  elementLike,
  elementsOf,
  hasClass,
  insertBefore,
} from './html-tree.ts'

/** The names of tabs by language; undefined for a language that is no way of its own. */
const NAMES: Readonly<Record<string, string>> = {
  html: 'Page',
  ts: 'JavaScript',
  js: 'JavaScript',
  sh: 'svc',
  toml: 'svc.toml',
  powershell: 'Windows',
}
/** With the installer for Windows beside it. */
const UNIX = 'Linux and macOS'
const NODE_SDK = /@svc\/sdk-node/

/** @param page its elements, in the order of the document */
export function groupCode(page: readonly Element[]): void {
  let groups = 0
  for (const run of runsOf(page)) {
    const names = namesOf(run)
    if (names === undefined) continue
    groups += 1
    makeTabs(run, names, `code-${groups}`)
  }
}

/** Blocks of code with nothing between them. */
function runsOf(elements: readonly Element[]): Element[][] {
  const blocks = elements.filter((element) => hasClass(element, 'expressive-code'))
  const runs: Element[][] = []
  for (const block of blocks) {
    const last = runs.at(-1)
    if (last !== undefined && previousOf(block) === last.at(-1)) last.push(block)
    else runs.push([block])
  }
  return runs.filter(({ length }) => length > 1)
}

/** Returns the node before it, without white space. */
function previousOf(block: Element): unknown {
  const siblings = block.parentNode?.childNodes ?? []
  const before = siblings.slice(0, siblings.indexOf(block))
  return before.findLast((node) => !('value' in node) || node.value.trim() !== '')
}

/** @returns undefined for steps that follow each other */
function namesOf(blocks: readonly Element[]): string[] | undefined {
  const languages = blocks.map((block) => languageOf(block))
  const isInstaller = languages.includes('powershell')
  if (!isInstaller && !/^(?:ts|html)$/.test(languages[0] ?? '')) return undefined
  const names = blocks.map((block, index) => {
    if (isInstaller && languages[index] === 'sh') return UNIX
    const name = NAMES[languages[index] ?? '']
    return name === 'JavaScript' && NODE_SDK.test(codeOf(block)) ? 'Node' : name
  })
  return names.every((name) => name !== undefined) && new Set(names).size === names.length ? names : undefined
}

function languageOf(block: Element): string | undefined {
  return [...elementsOf(block)].map((element) => attributeOf(element, 'data-language')).find(Boolean)
}

function codeOf(block: Element): string {
  return [...elementsOf(block)].map((element) => attributeOf(element, 'data-code')).find(Boolean) ?? ''
}

function makeTabs(blocks: readonly Element[], names: readonly string[], id: string): void {
  const [first] = blocks
  if (first === undefined) return
  const tabs = names.map((name, index) =>
    elementLike(
      first,
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `${id}-tab-${index}`,
        'aria-controls': `${id}-${index}`,
        'aria-selected': `${index === 0}`,
        tabindex: index === 0 ? '0' : '-1',
      },
      name,
    ),
  )
  const group = elementLike(
    first,
    'code-tabs',
    { class: 'not-content' },
    elementLike(
      first,
      'div',
      { role: 'tablist', 'aria-label': 'Ways to do it', 'data-pagefind-ignore': '' },
      ...tabs,
    ),
  )
  insertBefore(first, group)
  for (const [index, block] of blocks.entries())
    append(
      group,
      elementLike(
        first,
        'div',
        {
          role: 'tabpanel',
          id: `${id}-${index}`,
          'aria-labelledby': `${id}-tab-${index}`,
          'data-name': names[index] ?? '',
        },
        block,
      ),
    )
}
