// Two words that every example's page needs.

export function element<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T
}

/** Makes an element with text, never with markup: whatever a visitor sent stays text. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  text = '',
  className = '',
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag)
  made.textContent = text
  made.className = className
  return made
}
