// A URL as a QR code for terminals. Only importer of uqr.

import { isOwnMachine } from '@svc/protocol'
import { encode } from 'uqr'

/** Black on white whatever the terminal's own colours are: cameras need it so. */
const BLACK_ON_WHITE = '\x1b[38;5;16;48;5;231m'
const RESET = '\x1b[0m'
/** ISO/IEC 18004 wants 4; what reads codes from screens is content with less. */
const BORDER = 2

export interface QrCode {
  lines: string[]
  /** The width in columns. */
  width: number
}

/** Says whether a device that reads the code can open it. One on `localhost` would look at itself. */
export function isForPhones(url: string | undefined): boolean {
  return url !== undefined && !isOwnMachine(new URL(url).hostname)
}

/** Two rows of modules in each line: a character is twice as high as it is wide. */
export function qrCode(text: string): QrCode {
  const { data, size } = encode(text, { border: BORDER })
  const lines: string[] = []
  for (let y = 0; y < size; y += 2) {
    const line = data[y]!.map((isUpper, x) => halves(isUpper, data[y + 1]?.[x] ?? false)).join('')
    lines.push(BLACK_ON_WHITE + line + RESET)
  }
  return { lines, width: size }
}

function halves(isUpper: boolean, isLower: boolean): string {
  if (isUpper) return isLower ? '█' : '▀'
  return isLower ? '▄' : ' '
}
