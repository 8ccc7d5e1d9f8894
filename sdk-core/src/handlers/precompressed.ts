// Files of a site that were compressed before, such as `app.js.br`: they are sent with their coding (RFC 9110 §8.4).

/** Files of a site's code. Others, such as `backup.tar.gz`, are downloaded as they are. */
const CODE = /\.(?:css|data|html|js|mjs|svg|symbols\.json|wasm)$/i
const SUFFIXES: Readonly<Record<string, string>> = { '.br': 'br', '.gz': 'gzip' }

/** A Representation is a file as it is sent. */
export interface Representation {
  file: File
  /** The name that says the type of the content. */
  name: string
  /** The value of Content-Encoding. Undefined for none. */
  coding?: string | undefined
  /** True when another visitor might get another one. */
  varies?: boolean | undefined
}

/**
 * Returns how `file` is sent: with its coding when it is compressed code, or in a compressed form that lies beside it and is not older.
 * A visitor that does not accept the coding gets the file as it is.
 * @param beside finds the file whose name has the suffix
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

/** Says whether the visitor takes the coding (RFC 9110 §12.5.3). One that says nothing gets none. */
function accepts({ headers }: Request, coding: string): boolean {
  const accepted = (headers.get('accept-encoding') ?? '').toLowerCase().split(',')
  return accepted.some((value) => {
    const [name, weight = ''] = value.split(';').map((part) => part.trim())
    return name === coding && !/^q=0(?:\.0*)?$/.test(weight)
  })
}
