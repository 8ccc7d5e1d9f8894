// Text as a part of an HTML page.

/** Returns `text` so that it is text in an element, and in a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
