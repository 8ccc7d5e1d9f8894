// Tells the owner of a visitor who waits while another tab or program is in front.

import type { KnockingVisitor } from '@svc/sdk-browser'
import { LANDING } from '../texts/landing.ts'

/** Asks for the permission, which a browser grants only after a click. Without it, the page alone shows who waits. */
export function askForNotifications(): void {
  if ('Notification' in globalThis && Notification.permission === 'default')
    Notification.requestPermission().catch(() => {}) // The page shows it too.
}

/** Shows a notification until the visitor does not wait any more. A click on it shows the page. */
export function notify({ code, browser, path, ended }: KnockingVisitor): void {
  if (!('Notification' in globalThis) || Notification.permission !== 'granted' || !document.hidden) return
  try {
    const shown = new Notification(LANDING.knock(code), { body: `${browser}, ${path}`, tag: `knock-${code}` })
    shown.onclick = () => {
      window.focus()
      shown.close()
    }
    ended.addEventListener('abort', () => shown.close(), { once: true })
  } catch {
    // Browsers of phones show notifications of service workers only.
  }
}
