// Tables of the pages: each is wide enough to be read, also on a phone. Options and settings become a list of names with their type, default
// and sentence; other tables of three columns and more become one on a phone. Programs and screen readers find the table as it was.
import {
  addClass,
  append,
  childrenOf,
  type Element,
  elementLike,
  elementsOf,
  insertBefore,
  setAttributes,
  textOf,
} from './html-tree.ts'

/** From so many columns on, a table of a phone shows each row as a block. */
const STACKED_COLUMNS = 3
/** The default of an option that has to be given. */
const NEEDED = /^(?:needed|required)/
const ROLES: Readonly<Record<string, string>> = {
  table: 'table',
  thead: 'rowgroup',
  tbody: 'rowgroup',
  tr: 'row',
  th: 'columnheader',
  td: 'cell',
}

/** @param index the position of the table in its page */
export function finishTable(table: Element, index: number): void {
  const elements = [...elementsOf(table)]
  const headings = elements.filter(({ tagName }) => tagName === 'th').map((heading) => textOf(heading).trim())
  for (const corner of elements.filter(({ tagName }) => tagName === 'th'))
    if (textOf(corner).trim() === '') toCell(corner)
  frame(table, 'table-frame', `Table ${index + 1}`)
  for (const code of elements.filter(({ tagName }) => tagName === 'code')) breakName(code)
  if (headings.length < STACKED_COLUMNS) return
  const isOptions = headings.includes('default') || headings[0] === 'option'
  addClass(table, isOptions ? 'table-options' : 'table-stacked')
  // The style shows rows as blocks on a phone; without roles a screen reader would no longer announce a table.
  for (const element of [table, ...elements]) {
    const role = ROLES[element.tagName]
    if (role !== undefined) setAttributes(element, { role })
  }
  for (const row of elements.filter((element) => element.tagName === 'tr' && isInBody(element)))
    for (const [column, cell] of childrenOf(row).entries()) labelCell(cell, headings[column] ?? '', isOptions)
}

function isInBody({ parentNode }: Element): boolean {
  return parentNode?.nodeName === 'tbody'
}

/** Makes an empty heading a plain cell: a screen reader would announce a column without a name. */
function toCell(heading: Element): void {
  heading.tagName = 'td'
  heading.nodeName = 'td'
}

function labelCell(cell: Element, heading: string, isOfOption: boolean): void {
  if (heading !== '') setAttributes(cell, { 'data-label': heading })
  if (isOfOption && heading === 'default' && NEEDED.test(textOf(cell))) addClass(cell, 'is-needed')
}

/** A name of several words may be broken between them: `ADMIN_TOKEN`, `sdk-core/payer`. */
function breakName(code: Element): void {
  const text = textOf(code)
  if (!/^[\w./-]+$/.test(text) || code.childNodes.length !== 1) return
  code.childNodes = []
  for (const [index, part] of text.split(/(?<=[_./])(?=.)/).entries()) {
    if (index > 0) append(code, elementLike(code, 'wbr', {}))
    append(code, part)
  }
}

/** A table, code or picture that is wider than the screen scrolls in a frame of its own, which the keyboard reaches. */
export function frame(wide: Element, className: string, label: string): void {
  const attributes = { class: className, role: 'region', tabindex: '0', 'aria-label': label }
  // A picture stands in a paragraph, which holds no `div`.
  const around = elementLike(wide, wide.tagName === 'img' ? 'span' : 'div', attributes)
  insertBefore(wide, around)
  append(around, wide)
}
