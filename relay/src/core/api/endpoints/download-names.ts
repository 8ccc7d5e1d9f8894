// Names the downloads of the command `svc`: their paths below `/api/install/bin`, and their files.

import { PROGRAM_SLUGS } from '@svc/protocol'

export interface Download {
  /** A platform, or `node` for the bundle that runs on a Node of the machine. */
  name: string
  /** The file in `bin`; with `.gz` it is compressed. */
  file: string
  mediaType: string
}

/** Name of the file with the SHA-256 of each compressed download, in `bin` and in the path. */
export const CHECKSUMS = 'SHA256SUMS'

export const DOWNLOADS: readonly Download[] = [
  ...PROGRAM_SLUGS.map((slug) => ({ name: slug, file: slug, mediaType: 'application/octet-stream' })),
  { name: 'node', file: 'svc.mjs', mediaType: 'text/javascript' },
]

/** Names below `/api/install/bin` beyond those of the platforms. */
export const DOWNLOAD_FILES: readonly string[] = [
  'node',
  ...DOWNLOADS.map(({ name }) => `${name}.gz`),
  CHECKSUMS,
]
