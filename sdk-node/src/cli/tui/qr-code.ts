// A URL as a QR code for terminals. The only importer of uqr.

import { isOwnMachine } from '@svc/protocol'
import { encode } from 'uqr'

/** Black on white, which cameras need, regardless of the terminal's colours. */
const BLACK_ON_WHITE = '\x1b[38;5;16;48;5;231m'
const RESET = '\x1b[0m'
/** The border in modules. ISO/IEC 18004 requires 4; cameras accept less on screens. */
const BORDER = 2

export interface QrCode {
  lines: string[]
  /** The width in columns. */
  width: number
}

/** Returns whether another device can open the URL, which is not so for `localhost`. */
export function isForPhones(url: string | undefined): boolean {
  return url !== undefined && !isOwnMachine(new URL(url).hostname)
}

/** Puts two rows of modules in each line, because a character is twice as high as it is wide. */
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
