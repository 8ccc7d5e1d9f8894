// Says whether a QR code of a URL is of use: whether the device that reads it can open the URL.
import { isOwnMachine } from '@svc/protocol'

/** False on `localhost`, where a phone would look at itself. */
export function isForPhones(url: string): boolean {
  return !isOwnMachine(new URL(url).hostname)
}
