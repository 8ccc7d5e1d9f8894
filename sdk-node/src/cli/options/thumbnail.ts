// The thumbnail for the relay's list of sites: a URL is unchanged, a file becomes a data URL.

import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { SvcError } from '@svc/sdk-core'

/** The image types that browsers show in an `<img>` (HTML, "Images"). */
const TYPES: Readonly<Record<string, string>> = {
  '.avif': 'image/avif',
  '.gif': 'image/gif',
  '.ico': 'image/x-icon',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
}

export function isUrl(picture: string): boolean {
  return /^(?:https?|data):/i.test(picture)
}

/**
 * @param option the name of the option, for errors
 * @throws SvcError `invalid_option` when there is no such file, or its name is not that of an image
 */
export async function thumbnailUrl(option: string, picture: string): Promise<string> {
  if (isUrl(picture)) return picture
  const type = TYPES[extname(picture).toLowerCase()]
  if (type === undefined) {
    const known = Object.keys(TYPES).join(', ')
    throw new SvcError(
      'invalid_option',
      `${option} ${picture} is not a picture: its name has to end in one of ${known}`,
    )
  }
  try {
    return `data:${type};base64,${(await readFile(picture)).toString('base64')}`
  } catch (cause) {
    throw new SvcError('invalid_option', `${option} ${picture} cannot be read`, { cause })
  }
}
