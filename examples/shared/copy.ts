// Buttons that copy, and say that they did.
import { showError } from './show-error.ts'

/** Milliseconds for which a button says so. */
const COPIED_MS = 2000

/** @param text asked for at each click */
export function copyOnClick(button: HTMLButtonElement, text: () => string): void {
  const label = button.textContent
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text())
    } catch {
      showError('The browser did not allow copying: select the text instead.')
      return
    }
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = label
    }, COPIED_MS)
  })
}
