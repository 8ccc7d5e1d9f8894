// Precompressed files of a site, such as `app.js.br`, which are sent with their content coding (RFC 9110 §8.4).

/** Files of a site's code. Others, such as `backup.tar.gz`, are sent unchanged. */
const CODE = /\.(?:css|data|html|js|mjs|svg|symbols\.json|wasm)$/i
const SUFFIXES: Readonly<Record<string, string>> = { '.br': 'br', '.gz': 'gzip' }

/** A Representation is a file with its content coding. */
export interface Representation {
  file: File
  /** The name that determines the media type. */
  name: string
  /** The value of Content-Encoding. Undefined for none. */
  coding?: string | undefined
  /** True when the representation depends on Accept-Encoding. */
  varies?: boolean | undefined
}

/**
 * Returns how `file` is sent: with its coding if it is compressed code, or as a compressed file beside it that is not older.
 * A visitor that does not accept the coding gets the file itself.
 * @param beside finds the file whose name has this suffix
 */
export async function representationOf(
  file: File,
  request: Request,
  beside: (suffix: string) => Promise<File | undefined>,
): Promise<Representation> {
  const { name } = file
  const plain = { file, name }
  const suffix = name.slice(-3).toLowerCase()
  const inner = name.slice(0, -3)
  if (suffix in SUFFIXES && CODE.test(inner)) {
    const coding = SUFFIXES[suffix]!
    return accepts(request, coding) ? { file, name: inner, coding, varies: true } : { ...plain, varies: true }
  }
  if (!CODE.test(name)) return plain
  for (const [suffix, coding] of Object.entries(SUFFIXES)) {
    const compressed = await beside(suffix)
    if (!compressed || compressed.lastModified < file.lastModified) continue
    if (accepts(request, coding)) return { file: compressed, name, coding, varies: true }
    Object.assign(plain, { varies: true })
  }
  return plain
}

/** Returns whether the visitor accepts the coding (RFC 9110 §12.5.3); false without Accept-Encoding. */
function accepts({ headers }: Request, coding: string): boolean {
  const accepted = (headers.get('accept-encoding') ?? '').toLowerCase().split(',')
  return accepted.some((value) => {
    const [name, weight = ''] = value.split(';').map((part) => part.trim())
    return name === coding && !/^q=0(?:\.0*)?$/.test(weight)
  })
}
