// The tree of a page of HTML. The only importer of parse5.
import { type DefaultTreeAdapterTypes, defaultTreeAdapter, parse, serialize } from 'parse5'

export type Document = DefaultTreeAdapterTypes.Document
export type Element = DefaultTreeAdapterTypes.Element
type ParentNode = DefaultTreeAdapterTypes.ParentNode

export { parse, serialize }

/** Each element below another, in the order of the document. */
export function* elementsOf(parent: ParentNode): Generator<Element> {
  for (const element of childrenOf(parent)) {
    yield element
    yield* elementsOf('content' in element ? (element as DefaultTreeAdapterTypes.Template).content : element)
  }
}

export function childrenOf(parent: ParentNode): Element[] {
  return parent.childNodes.filter((node) => defaultTreeAdapter.isElementNode(node))
}

export function textOf(parent: ParentNode): string {
  return parent.childNodes
    .map((node) => {
      if (defaultTreeAdapter.isTextNode(node)) return node.value
      return defaultTreeAdapter.isElementNode(node) ? textOf(node) : ''
    })
    .join('')
}

export function attributeOf(element: Element, name: string): string | undefined {
  return element.attrs.find((one) => one.name === name)?.value
}

export function setAttributes(element: Element, attributes: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(attributes)) {
    takeAttribute(element, name)
    element.attrs.push({ name, value })
  }
}

/** Removes an attribute. @returns its value */
export function takeAttribute(element: Element, name: string): string | undefined {
  const found = element.attrs.find((one) => one.name === name)
  element.attrs = element.attrs.filter((one) => one !== found)
  return found?.value
}

export function hasClass(element: Element, name: string): boolean {
  return `${attributeOf(element, 'class')}`.split(' ').includes(name)
}

export function addClass(element: Element, name: string): void {
  const classes = attributeOf(element, 'class')
  setAttributes(element, { class: classes === undefined ? name : `${classes} ${name}` })
}

/** Makes an element in the namespace of another. */
export function elementLike(
  { namespaceURI }: Element,
  tagName: string,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly (Element | string)[]
): Element {
  const attrs = Object.entries(attributes).map(([name, value]) => ({ name, value }))
  const element = defaultTreeAdapter.createElement(tagName, namespaceURI, attrs)
  for (const child of children) append(element, child)
  return element
}

/** Puts an element or text at the end of a parent, and takes it from where it was. */
export function append(parent: ParentNode, child: Element | string): void {
  if (typeof child === 'string') defaultTreeAdapter.insertText(parent, child)
  else {
    defaultTreeAdapter.detachNode(child)
    defaultTreeAdapter.appendChild(parent, child)
  }
}

/** Puts a new element in the place of another. */
export function insertBefore(element: Element, added: Element): void {
  if (element.parentNode) defaultTreeAdapter.insertBefore(element.parentNode, added, element)
}
