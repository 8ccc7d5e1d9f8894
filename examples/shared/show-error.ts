// The one place where an example's page says that something went wrong: in the card of its site.
import { element } from './dom.ts'

/** @param error an error, its message, or '' for none */
export function showError(error: unknown): void {
  element('error').textContent = error instanceof Error ? error.message : String(error)
}
