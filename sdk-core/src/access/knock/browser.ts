// A short name of the visitor's browser and system, from the field User-Agent. Nothing of the field itself is shown but a plain product name.

type Names = readonly (readonly [pattern: RegExp, name: string])[]

/** The first that fits is it: most browsers also claim to be others. */
const BROWSERS: Names = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\b(OPR|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/ Safari\//, 'Safari'],
]
const SYSTEMS: Names = [
  [/\bAndroid\b/, 'Android'],
  [/\b(iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]
/** The product of a program, such as `curl/8.5.0`. */
const PRODUCT = /^[A-Za-z][\w.-]{0,31}(?:\/\d[\w.-]{0,15})?(?=[ ;(]|$)/
/** The longest examined field, in characters. */
const FIELD_MAX_CHARS = 1_000

/** Returns a name such as `Chrome on Android`, or the product of a program, such as `curl/8.5.0`. */
export function browserOf(userAgent: string | null): string {
  const text = (userAgent ?? '').slice(0, FIELD_MAX_CHARS)
  const browser = nameIn(BROWSERS, text)
  const system = nameIn(SYSTEMS, text)
  const product = text.startsWith('Mozilla/') ? undefined : PRODUCT.exec(text)?.[0]
  const name = browser ?? product ?? 'unknown browser'
  return system === undefined ? name : `${name} on ${system}`
}

function nameIn(names: Names, text: string): string | undefined {
  return names.find(([pattern]) => pattern.test(text))?.[1]
}
