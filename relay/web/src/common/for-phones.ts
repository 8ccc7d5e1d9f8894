// Decides whether a QR code of a URL is useful: whether another device can open the URL.
import { isOwnMachine } from '@svc/protocol'

/** Returns false for `localhost`, which on a phone is the phone itself. */
export function isForPhones(url: string): boolean {
  return !isOwnMachine(new URL(url).hostname)
}
